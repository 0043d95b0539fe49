"""VE01: what is served stays."""

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
    """Report fields, versions, subresources and names that are gone."""
    yield from evolution.hits(Sort.REMOVED, Sort.MANIFEST)


RULE = Rule(
    id="VE01",
    name="removed",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Evolution,
    what="Nothing that clients use is taken away from an API version: no field, version, subresource or name.",
    why="The server drops what it knows no field for, so data is lost without a word; and who asks for a version or "
    "name that is gone gets a 404.",
    check=check,
    good=(change(spec("size: {type: integer}"), spec("size: {type: integer}\nname: {type: string}")),),
    bad=(change(spec("size: {type: integer}\nname: {type: string}"), spec("size: {type: integer}")),),
)
