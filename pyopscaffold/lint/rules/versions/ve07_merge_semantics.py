"""VE07: lists and maps are merged as before."""

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
    """Report list and map types that really changed."""
    yield from evolution.hits(Sort.MERGE)


RULE = Rule(
    id="VE07",
    name="merge-semantics",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="Lists and maps keep their merge semantics; to say what holds anyway, atomic for a list and granular for a "
    "map, is no change.",
    why="Server-side apply tracks owners by them: after the change, appliers overwrite what others own, or leave "
    "behind what they meant to remove.",
    check=check,
    good=(
        change(
            spec("names: {type: array, items: {type: string}}"),
            spec("names: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}"),
        ),
    ),
    bad=(
        change(
            spec("names: {type: array, items: {type: string}}"),
            spec("names: {type: array, x-kubernetes-list-type: set, items: {type: string}}"),
        ),
    ),
)
