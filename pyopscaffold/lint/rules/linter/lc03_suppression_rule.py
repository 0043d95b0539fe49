"""LC03: each suppression names rules that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.selection import mistake
from pyopscaffold.lint.suppress import Suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(suppressions: Suppressions) -> Iterator[Hit]:
    """Report unknown rules, and comments for the linter that are no suppression."""
    for suppression in suppressions.found:
        if not suppression.selectors:
            message = "not understood: write lint-crd: ignore[VA01] and the reason"
            yield Hit((), message, position=suppression.position)
        for selector in suppression.selectors:
            if wrong := mistake(selector, suppressions.known):
                yield Hit((), "; ".join(wrong), position=suppression.position)


RULE = Rule(
    id="LC03",
    name="suppression-rule",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Suppressions,
    what="Each suppression names rules, by id, prefix or name.",
    why="A misspelt one hides nothing, and nobody would know.",
    check=check,
    good=(spec("name: {type: string}  # lint-crd: ignore[string-constraint] free text on purpose"),),
    bad=(
        spec("name: {type: string}  # lint-crd: ignore[VB01] free text on purpose"),
        spec("name: {type: string}  # lint-crd: ignore free text on purpose"),
    ),
)
