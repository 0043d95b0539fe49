"""A kind with every marker and every type."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal

from pyopscaffold.api import (
    CEL,
    Column,
    Default,
    Doc,
    Example,
    Format,
    Gt,
    Immutable,
    Interval,
    Len,
    ListAtomic,
    ListMap,
    ListSet,
    MapType,
    MaxLen,
    MinLen,
    MultipleOf,
    Name,
    NoSchemaDefault,
    Nullable,
    Object,
    ObjectMeta,
    PreserveUnknownFields,
    Title,
    cel,
    int32,
    resource,
)


class Colour(StrEnum):
    """Colours a gadget can have."""

    RED = "red"
    GREEN = "green"


@cel("self.number > 0", message="ports start at 1", field_path=".number")
@cel("self.protocol == oldSelf.protocol", reason="FieldValueForbidden")
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
@cel("!self.verbose || self.enabled", message_expression="'a ' + self.size + ' one is silent while it is off'")
class GadgetSpec:
    """Desired state of a Gadget."""

    percent: Annotated[int, Gt(0), Interval(lt=100), MultipleOf(5)]
    """Over several
    lines.
    """

    ratio: float | None = None
    enabled: bool = True
    verbose: bool = False
    cluster_ip: Annotated[str | None, Format("ipv4"), MinLen(7), Name("clusterIP"), Immutable()] = None
    size: Annotated[Literal["small", "large"], Immutable()]
    cores: Annotated[
        Literal[1, 2, 4] | None,
        CEL(
            "!oldSelf.hasValue() || self >= oldSelf.value()",
            message="cores only grow",
            reason="FieldValueInvalid",
            optional_old_self=True,
        ),
    ] = None
    colour: Colour = Colour.RED
    port: int | str | None = None
    start: datetime | None = None
    timeout: timedelta | None = None
    seed: bytes | None = None
    tags: Annotated[list[Annotated[str, MinLen(2)]], Len(1, 8), ListSet()] = field(default_factory=list)
    words: Annotated[
        list[Annotated[str, MaxLen(8), CEL("self != 'no'", message="no is no word")]], MaxLen(8), ListAtomic()
    ] = field(default_factory=list)
    grid: Annotated[list[Annotated[list[Annotated[str, MaxLen(3)]], MaxLen(2)]], MaxLen(8)] = field(
        default_factory=list
    )
    ports: Annotated[list[Port], ListMap("name", "protocol")] = field(default_factory=list)
    labels: Annotated[dict[str, str], Len(1, 4), MapType("atomic")] = field(default_factory=dict)
    by_name: dict[str, Port] = field(default_factory=dict)
    retry: Retry = field(default_factory=Retry)
    slow_retry: Retry = field(default_factory=lambda: Retry(limit=9))
    other_retry: Annotated[Retry | None, MapType("atomic"), CEL("self.limit < 100")] = None
    """How to retry in an emergency."""
    template: ObjectMeta | None = None
    anything: Any = None
    open_retry: Annotated[Retry | None, PreserveUnknownFields()] = None
    nick: Annotated[str | None, Title("Nickname"), Example("Bob"), Nullable()] = None
    chosen: Annotated[str, Default("server"), Immutable()] = "client"
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
