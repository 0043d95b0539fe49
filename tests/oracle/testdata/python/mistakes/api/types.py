"""Markers where they can't be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import (
    CEL,
    Ge,
    Le,
    ListSet,
    Lt,
    MapType,
    MaxLen,
    MinLen,
    MultipleOf,
    Object,
    Pattern,
    Title,
    at_most_one_of,
    exactly_one_of,
    int32,
    int64,
    resource,
)


@exactly_one_of("near", "far.away")
@dataclass(kw_only=True)
class Nested:
    """A choice of what is below it."""

    near: str | None = None


@at_most_one_of("first", "second")
@dataclass(kw_only=True)
class Settled:
    """A choice that is none."""

    first: str
    second: str | None = None


@dataclass(kw_only=True)
class MuddleSpec:
    """What a muddle is to be."""

    text: Annotated[str, Le(3)]
    whole: Annotated[int64, Ge(1.5)]
    word: Annotated[str, Lt(2)]
    flag: Annotated[bool, MultipleOf(2)]
    number: Annotated[int64, MaxLen(2)]
    switch: Annotated[bool, MinLen(2)]
    count: Annotated[int32, Pattern("^a")]
    counts: list[Annotated[int32, Pattern("^a")]]
    single: Annotated[str, ListSet()]
    items: Annotated[list[str], MapType("atomic")]
    labels: Annotated[dict[str, str], MapType("loose")]
    titled: Annotated[str, Title(5)]  # type: ignore[arg-type]
    ruled: Annotated[int64, CEL("self > 1", reason="BecauseISaySo")]  # type: ignore[arg-type]
    nested: Nested | None = None
    settled: Settled | None = None
    right: Annotated[str, MinLen(1)]


@resource(group="mistakes.example.com", version="v1")
@dataclass(kw_only=True)
class Muddle(Object):
    """A muddle."""

    spec: MuddleSpec
