"""VE05: what was valid stays valid."""

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
    """Report bounds, patterns, formats and rules that are tighter or new."""
    yield from evolution.hits(Sort.BOUND)


RULE = Rule(
    id="VE05",
    name="bound-tightened",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="Bounds, patterns, formats and CEL rules are not tightened or added.",
    why="Stored objects need not meet them: their next update is refused, often by a controller that did not touch "
    "the field.",
    check=check,
    good=(change(spec("size: {type: integer, minimum: 1}"), spec("size: {type: integer, minimum: 0}")),),
    bad=(
        change(spec("size: {type: integer, minimum: 1}"), spec("size: {type: integer, minimum: 2}")),
        change(spec("name: {type: string}"), spec("name: {type: string, pattern: ^a$}")),
        change(
            spec("name: {type: string}"),
            spec("name: {type: string, x-kubernetes-validations: [{rule: self.size() < 9}]}"),
        ),
    ),
)
