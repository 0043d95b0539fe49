"""Texts that were made of others: findings in them are told where their author can mend them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pyopscaffold.document.builder import Position
from pyopscaffold.document.reader import Source

RENDERED = " (rendered)"
"""Ends the name of what a program made of a file."""


class Place(NamedTuple):
    """A line of a text that a person wrote; ``column`` 0 is the same column as in what was made of it."""

    source: Source
    line: int
    column: int = 0


@dataclass(frozen=True)
class Derived(Source):
    """A text that a tool made; ``places`` maps its lines (from 1) to where they come from, as far as is known.

    ``file`` is the name that is told of the other lines.
    """

    places: Mapping[int, Place] = field(default_factory=dict, hash=False, repr=False)

    @property
    def can_be_fixed(self) -> bool:
        """Whether fixes can be made in what this was made of."""
        return False


def origin(source: Source, position: Position) -> tuple[Source, Position]:
    """Return where a position in a text comes from: itself, where the text is nobody's copy."""
    place = source.places.get(position.line) if isinstance(source, Derived) else None
    if place is None:
        return source, position
    return place.source, Position(place.line, place.column or position.column)


def origins(source: Source) -> tuple[Source, ...]:
    """Return the texts that people wrote, in which they may have suppressed findings."""
    if not isinstance(source, Derived):
        return (source,)
    return tuple({id(place.source): place.source for place in source.places.values()}.values())
