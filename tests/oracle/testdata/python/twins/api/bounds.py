"""Bounds, formats, defaults, and what is required."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pyopscaffold.api import (
    Default,
    Format,
    Ge,
    Gt,
    Interval,
    Le,
    Len,
    Lt,
    MaxLen,
    MinLen,
    MultipleOf,
    Nullable,
    Object,
    Pattern,
    int32,
    int64,
    resource,
)

_HOST = r"^[a-z0-9]+(\.[a-z0-9]+)*$"


@dataclass(kw_only=True)
class MeasureSpec:
    """Bounds of all kinds."""

    small: Annotated[int32, Ge(-3), Le(12)]
    digit: Annotated[int64, Interval(ge=1, le=9)]
    share: Annotated[float | None, Interval(gt=0, lt=1)] = None
    halves: Annotated[float | None, MultipleOf(0.5)] = None
    dice: Annotated[list[Annotated[int32, Ge(1), Le(6)]] | None, Len(2, 5)] = None
    threes: list[Annotated[int64, Lt(10), MultipleOf(3)]] | None = None
    positive: list[Annotated[int64, Gt(0)]] | None = None
    hosts: list[Annotated[str, Pattern("^x"), Format("hostname"), MinLen(1), MaxLen(9)]] | None = None
    grid: list[Annotated[list[str], Len(1, 3)]] | None = None
    maps: list[Annotated[dict[str, str], Len(1, 3)]] | None = None
    labels: Annotated[dict[str, str] | None, MinLen(1), MaxLen(3)] = None
    host: Annotated[str, Len(1, 253), Pattern(_HOST), Format("hostname")]
    mail: Annotated[str | None, Format("email"), Nullable()] = None
    first: str = "a"
    second: Annotated[str, Default("b")] = "a"
    letters: list[str] = field(default_factory=lambda: ["a", "b"])
    numbers: dict[str, int64] = field(default_factory=lambda: {"one": 1})
    must: str
    too: Annotated[str, MinLen(1)]
    may: str | None = None
    might: str | None = None
    shall: str
    omit: str | None = None
    zero: str | None = None


@resource(group="bounds.example.com", version="v1")
@dataclass(kw_only=True)
class Measure(Object):
    """A measure."""

    spec: MeasureSpec
