"""LC02: each suppression says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.suppress import Suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(suppressions: Suppressions) -> Iterator[Hit]:
    """Report suppressions without a reason."""
    for suppression in suppressions.found:
        if suppression.selectors and not suppression.reason:
            message = f"ignoring {', '.join(suppression.selectors)} has no effect without a reason: write it behind"
            yield Hit((), message, position=suppression.position)


_ANNOTATED = crd("spec: {type: object}").replace(
    "metadata:", "metadata:\n  annotations: {lint-crd.pyopscaffold.dev/ignore-CO01: %s}"
)

RULE = Rule(
    id="LC02",
    name="suppression-reason",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Suppressions,
    what="Each suppression gives its reason; without one it hides nothing.",
    why="Whoever comes later must be able to judge whether the exception still holds.",
    check=check,
    good=(
        spec("name: {type: string}  # lint-crd: ignore[VA01] free text on purpose"),
        _ANNOTATED % "has no controller",
    ),
    bad=(spec("name: {type: string}  # lint-crd: ignore[VA01]"), _ANNOTATED % "''"),
)
