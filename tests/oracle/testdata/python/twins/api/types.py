"""Types of fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pyopscaffold.api import (
    IntOrString,
    MaxLen,
    Name,
    Object,
    OneOfValues,
    Pattern,
    Quantity,
    SchemaType,
    int32,
    int64,
    resource,
)

Unit = Annotated[str, SchemaType("string"), Pattern("^[0-9]+u$")]


@dataclass(kw_only=True)
class SampleSpec:
    """What a sample is to be."""

    text: str
    flag: bool
    long: int64
    short: int32
    unsigned: int32
    real: float
    seed: bytes
    time: datetime
    micro: datetime
    wait: timedelta
    amount: Quantity
    port: int | str
    unit: Unit
    either: Annotated[str, IntOrString()]
    percent: Annotated[int | str, Pattern("^[0-9]+%$"), MaxLen(4)]
    limits: dict[str, Quantity]
    times: list[datetime]
    json_tag: Annotated[str, Name("json_tag")]

    one_or_a: Annotated[int | str, OneOfValues(1, "a")]
    """Of one of two kinds."""


@resource(group="types.example.com", version="v1")
@dataclass(kw_only=True)
class Sample(Object):
    """A sample."""

    spec: SampleSpec
