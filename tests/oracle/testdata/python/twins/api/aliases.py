"""Types with markers of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import (
    CEL,
    Doc,
    Gt,
    Le,
    Len,
    ListSet,
    MaxLen,
    MinLen,
    MultipleOf,
    Object,
    Pattern,
    PreserveUnknownFields,
    atomic,
    cel,
    int32,
    mark,
    resource,
)

Word = Annotated[str, Pattern("^[a-z]+$"), MaxLen(9), Doc("A word in lower case.")]
Words = Annotated[list[Annotated[Word, MinLen(2)]], MinLen(1), ListSet(), Doc("Some of them.")]
Shade = Annotated[int, Gt(0), MultipleOf(2), Doc("A shade.")]


@atomic
@mark(Len(1, 2))
@cel("self.x + self.y > 0")
@dataclass(kw_only=True)
class Point:
    """A place with rules of its own."""

    x: int32
    y: int32


@mark(PreserveUnknownFields())
@dataclass(kw_only=True)
class Open:
    """Whatever there is."""

    name: str


@dataclass(kw_only=True)
class Base:
    """Shared by several."""

    origin: str = "base"
    """From the base."""


@cel("self.origin != 'x'")
@dataclass(kw_only=True)
class MapSpec(Base):
    """What a map is to be."""

    word: Word

    second: Annotated[Word | None, MinLen(3)] = None
    """The second word."""

    words: Words | None = None

    few: Annotated[Words | None, MaxLen(4)] = None
    """Words that are few."""

    shade: Annotated[Shade | None, Le(8)] = None
    shades: dict[str, Shade] | None = None
    points: dict[str, list[Point]] | None = None

    middle: Annotated[Point | None, CEL("self.x == self.y", message="the middle is on the diagonal")] = None
    """The middle."""

    open: Open | None = None
    opens: list[Open] | None = None
    deep: dict[str, dict[str, list[str]]] | None = None
    pointers: list[Point] | None = None


@resource(group="aliases.example.com", version="v1")
@dataclass(kw_only=True)
class Map(Object):
    """A map."""

    spec: MapSpec
