"""LC01: each suppression hides something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.selection import match
from pyopscaffold.lint.suppress import Suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(suppressions: Suppressions) -> Iterator[Hit]:
    """Report each selector that hid nothing although a rule that it names was on."""
    for suppression in suppressions.found:
        for selector in suppression.selectors if suppression.reason else ():
            on = any(match(selector, rule) for rule in suppressions.rules)
            if on and (suppression, selector) not in suppressions.used:
                yield Hit((), f"ignoring {selector} hides nothing here: remove it", position=suppression.position)


RULE = Rule(
    id="LC01",
    name="unused-suppression",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Suppressions,
    what="Each suppression hides a finding.",
    why="One that is left over when its cause is gone hides the next mistake at the same place. Only suppressions of "
    "rules that are on are judged.",
    check=check,
    good=(spec("name: {type: string}  # lint-crd: ignore[VA01] free text on purpose"),),
    bad=(spec("name: {type: string, maxLength: 63}  # lint-crd: ignore[VA01] free text on purpose"),),
)
