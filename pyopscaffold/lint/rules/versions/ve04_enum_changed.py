"""VE04: an enum keeps its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.compat.change import Sort
from pyopscaffold.lint.evolution import Evolution
from pyopscaffold.lint.example import change, spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(evolution: Evolution) -> Iterator[Hit]:
    """Report values that went or came."""
    yield from evolution.hits(Sort.ENUM)


RULE = Rule(
    id="VE04",
    name="enum-changed",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="An enum loses no value; one that gains some is a warning.",
    why="An object with a value that is gone can't be updated any more, and a client that knows all values does not "
    "know what to do with another.",
    check=check,
    good=(change(spec("mode: {type: string, enum: [Fast, Safe]}"), spec("mode: {type: string, enum: [Safe, Fast]}")),),
    bad=(
        change(spec("mode: {type: string, enum: [Fast, Safe]}"), spec("mode: {type: string, enum: [Safe]}")),
        change(spec("mode: {type: string, enum: [Safe]}"), spec("mode: {type: string, enum: [Fast, Safe]}")),
    ),
)
