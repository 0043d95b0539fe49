"""What stands beside the schema in a CRD."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from pyopscaffold.api import Age, Column, Conditions, Object, Scale, Selectable, int32, int64, resource


@dataclass(kw_only=True)
class Cargo:
    """What it carries."""

    tons: Annotated[int64, Selectable()]


@dataclass(kw_only=True)
class ShipSpec:
    """What a ship is to be."""

    port: Annotated[str, Selectable()]
    crew: int32 | None = None
    fast: Annotated[bool | None, Selectable()] = None
    cargo: Cargo | None = None


@dataclass(kw_only=True)
class ShipStatus:
    """What a ship is."""

    crew: int32 = 0
    selector: str = ""
    seen: datetime | None = None
    conditions: Conditions = field(default_factory=list)


@resource(
    group="lifecycle.example.com",
    version="v1",
    plural="vessels",
    singular="vessel",
    short_names=["sh", "shp"],
    categories=["all", "sea"],
    scope="Cluster",
    scale=Scale(spec="spec.crew", status="status.crew", selector="status.selector"),
    labels={"sea": "deep", "example.com/size": "big"},
    annotations={"example.com/note": "wide, deep = sea"},
    columns=[
        Column("Home port", path="spec.port", description="Where it lies."),
        Column("Crew", path="spec.crew", format="int32", priority=1),
        Column("Ready", condition="Ready"),
        Column("Why", condition="Ready", show="reason", priority=1),
        Column("Seen", path="status.seen"),
        Age(),
    ],
)
@dataclass(kw_only=True)
class Ship(Object):
    """A ship."""

    spec: ShipSpec
    status: ShipStatus | None = None


@dataclass(kw_only=True)
class RaftSpec:
    """What a raft is to be."""

    logs: int64


@dataclass(kw_only=True)
class RaftStatus:
    """What a raft is."""

    logs: int64 = 0


@resource(
    group="lifecycle.example.com",
    version="v1",
    status_subresource=False,
    scale=Scale(spec="spec.logs", status="status.logs"),
)
@dataclass(kw_only=True)
class Raft(Object):
    """A raft, whose status anybody may write."""

    spec: RaftSpec
    status: RaftStatus | None = None
