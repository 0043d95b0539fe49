"""Types with markers of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pyopscaffold.api import (
    CEL,
    Doc,
    EmbeddedResource,
    Format,
    Gt,
    Le,
    Len,
    ListMap,
    ListSet,
    MapType,
    MaxLen,
    MinLen,
    MultipleOf,
    Object,
    Pattern,
    PreserveUnknownFields,
    Title,
    atomic,
    cel,
    int32,
    mark,
    resource,
)

Word = Annotated[str, Pattern("^[a-z]+$"), MaxLen(9), Doc("A word in lower case.")]
Words = Annotated[list[Annotated[Word, MinLen(2)]], MinLen(1), ListSet(), Doc("Some of them.")]
Shade = Annotated[int, Gt(0), MultipleOf(2), Doc("A shade.")]


@dataclass(kw_only=True)
class Address:
    """An address."""

    street: str
    number: int32


Addresses = Annotated[list[Address], ListMap("street", "number"), MaxLen(5), Doc("Addresses by street and number.")]
Colours = Annotated[dict[str, str], MapType("atomic"), MinLen(1), Doc("Colours by place.")]
Host = Annotated[str, Format("hostname"), MinLen(1), Doc("A name in the network.")]
Server: TypeAlias = Host


@mark(EmbeddedResource(), PreserveUnknownFields(), Title("Whole"))
@dataclass(kw_only=True)
class Whole:
    """A whole object."""


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
    addresses: Addresses | None = None
    colours: Colours | None = None
    host: Host | None = None
    server: Server | None = None
    hosts: dict[str, Host] | None = None
    whole: Whole | None = None
    pointers: list[Point] | None = None


@resource(group="aliases.example.com", version="v1")
@dataclass(kw_only=True)
class Map(Object):
    """A map."""

    spec: MapSpec
