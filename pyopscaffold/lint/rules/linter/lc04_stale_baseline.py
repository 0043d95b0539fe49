"""LC04: the baseline lists only what is still found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Position
from pyopscaffold.lint.baseline import Comparison, render
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(comparison: Comparison) -> Iterator[Hit]:
    """Report entries that list more than is found."""
    for entry in comparison.stale:
        left = f"only {entry.found} of {entry.listed} are found" if entry.found else "is found no more"
        message = f"{entry.key}: {left}: shrink the baseline by --write-baseline"
        yield Hit((), message, position=Position(entry.line, 5))


RULE = Rule(
    id="LC04",
    name="stale-baseline",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Comparison,
    what="The baseline lists only what is still found. This is checked whenever there is a baseline, and can't be "
    "ignored.",
    why="An entry that is left over would let the mistake come back unseen, and the baseline would never get empty.",
    check=check,
    good=(render({}),),
    bad=(render({"VA01 widgets.example.com/v1 .spec.gone": 1}),),
)
