"""A kind with every marker and every type."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from pyopscaffold.api import (
    Column,
    Default,
    Doc,
    Example,
    Format,
    Gt,
    Interval,
    Len,
    ListAtomic,
    ListMap,
    ListSet,
    MapType,
    MinLen,
    MultipleOf,
    Name,
    NoSchemaDefault,
    Nullable,
    Object,
    ObjectMeta,
    PreserveUnknownFields,
    Title,
    int32,
    resource,
)


class Colour(StrEnum):
    """Colours a gadget can have."""

    RED = "red"
    GREEN = "green"


@dataclass(kw_only=True)
class Port:
    """One port."""

    name: Annotated[str, MinLen(1)]
    """Name of the port."""

    protocol: Literal["TCP", "UDP"] = "TCP"
    """Its protocol; TCP if unset."""

    number: int32


@dataclass(kw_only=True)
class Retry:
    """When to try again."""

    limit: int32 = 3
    delay: timedelta = timedelta(minutes=5)


@dataclass(kw_only=True)
class GadgetSpec:
    """Desired state of a Gadget."""

    percent: Annotated[int, Gt(0), Interval(lt=100), MultipleOf(5)]
    """Over several
    lines.
    """

    ratio: float | None = None
    enabled: bool = True
    verbose: bool = False
    cluster_ip: Annotated[str | None, Format("ipv4"), MinLen(7), Name("clusterIP")] = None
    size: Literal["small", "large"]
    cores: Literal[1, 2, 4] | None = None
    colour: Colour = Colour.RED
    port: int | str | None = None
    start: datetime | None = None
    timeout: timedelta | None = None
    seed: bytes | None = None
    tags: Annotated[list[Annotated[str, MinLen(2)]], Len(1, 8), ListSet()] = field(default_factory=list)
    words: Annotated[list[str], ListAtomic()] = field(default_factory=list)
    ports: Annotated[list[Port], ListMap("name", "protocol")] = field(default_factory=list)
    labels: Annotated[dict[str, str], Len(1, 4), MapType("atomic")] = field(default_factory=dict)
    by_name: dict[str, Port] = field(default_factory=dict)
    retry: Retry = field(default_factory=Retry)
    slow_retry: Retry = field(default_factory=lambda: Retry(limit=9))
    other_retry: Annotated[Retry | None, MapType("atomic")] = None
    """How to retry in an emergency."""
    template: ObjectMeta | None = None
    anything: Any = None
    open_retry: Annotated[Retry | None, PreserveUnknownFields()] = None
    nick: Annotated[str | None, Title("Nickname"), Example("Bob"), Nullable()] = None
    chosen: Annotated[str, Default("server")] = "client"
    quiet: Annotated[str, NoSchemaDefault()] = "hidden"
    from_: str


@dataclass(kw_only=True)
class Attempt:
    """What was tried."""

    at: datetime
    limit: int32 = 3


@dataclass(kw_only=True)
class GadgetStatus:
    """Observed state of a Gadget."""

    phase: Annotated[str, Doc("What it does.")]

    last: Attempt | None = None


@resource(
    group="example.com",
    version="v1",
    plural="gadgetry",
    scope="Cluster",
    short_names=["gd", "gdt"],
    categories=["all", "acme"],
    columns=[
        Column("Size", path="spec.size", description="How large it is.", priority=1),
        Column("Cores", path="spec.cores", format="int64"),
    ],
)
@dataclass(kw_only=True)
class Gadget(Object):
    """A gadget."""

    spec: GadgetSpec
    status: GadgetStatus | None = None
