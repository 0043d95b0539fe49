"""VE02: a field keeps its type."""

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
    """Report fields of another type."""
    yield from evolution.hits(Sort.TYPE)


RULE = Rule(
    id="VE02",
    name="type-changed",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="A field keeps its type.",
    why="Objects that are stored with the old type can't be read or written by the new schema, and typed clients "
    "fail to decode either.",
    check=check,
    good=(change(spec("size: {type: integer}"), spec("size: {type: integer, description: How many.}")),),
    bad=(
        change(spec("size: {type: integer}"), spec("size: {type: string}")),
        change(spec("size: {type: integer}"), spec("size: {x-kubernetes-int-or-string: true}")),
    ),
)
