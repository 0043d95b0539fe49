"""VE09: what is new is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.compat.change import Grade, Sort
from pyopscaffold.lint.evolution import Evolution
from pyopscaffold.lint.example import change, spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(evolution: Evolution) -> Iterator[Hit]:
    """Report what is new, which breaks nobody."""
    yield from evolution.hits(Sort.ADDED, grade=Grade.COMPATIBLE)


RULE = Rule(
    id="VE09",
    name="optional-added",
    severity=Severity.INFO,
    profile=Profile.OPT_IN,
    subject=Evolution,
    what="A field or version that is new is told, for those who write release notes.",
    why="It is a compatible change; but what is once served can't be taken back, so somebody should have looked at it.",
    check=check,
    good=(change(spec("size: {type: integer}"), spec("size: {type: integer}")),),
    bad=(change(spec("size: {type: integer}"), spec("size: {type: integer}\nname: {type: string}")),),
)
