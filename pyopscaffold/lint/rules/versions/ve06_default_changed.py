"""VE06: a default stays."""

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
    """Report defaults that went, came, or are others now."""
    yield from evolution.hits(Sort.DEFAULT)


RULE = Rule(
    id="VE06",
    name="default-changed",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="A default is neither changed nor taken away; one that comes is a warning.",
    why="Whoever left the field out relied on it; and a default acts on stored objects when they are read, not only "
    "on new ones.",
    check=check,
    good=(change(spec("size: {type: integer, default: 1}"), spec("size: {type: integer, default: 1, minimum: 0}")),),
    bad=(
        change(spec("size: {type: integer, default: 1}"), spec("size: {type: integer, default: 2}")),
        change(spec("size: {type: integer, default: 1}"), spec("size: {type: integer}")),
        change(spec("size: {type: integer}"), spec("size: {type: integer, default: 2}")),
    ),
)
