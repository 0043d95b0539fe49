"""VE03: no field becomes required."""

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
    """Report fields that must be given now."""
    yield from evolution.hits(Sort.REQUIRED)


RULE = Rule(
    id="VE03",
    name="required-added",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="A field that could be left out is not required later, unless it has a default.",
    why="Manifests without it are refused from then on, and so is the next update of each stored object without it.",
    check=check,
    good=(
        change(
            spec("a: {type: object, properties: {b: {type: integer}}}"),
            spec("a: {type: object, properties: {b: {type: integer}, c: {type: integer}}}"),
        ),
        change(
            spec("a: {type: object, properties: {b: {type: integer}}}"),
            spec("a: {type: object, required: [b], properties: {b: {type: integer, default: 1}}}"),
        ),
    ),
    bad=(
        change(
            spec("a: {type: object, properties: {b: {type: integer}}}"),
            spec("a: {type: object, required: [b], properties: {b: {type: integer}}}"),
        ),
    ),
)
