"""The MyDatabase API, version v1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pyopscaffold.api import (
    Age,
    Column,
    Conditions,
    Ge,
    Le,
    MaxLen,
    Object,
    Pattern,
    Quantity,
    Scale,
    int32,
    int64,
    resource,
)


@dataclass(kw_only=True)
class MyDatabaseSpec:
    """Desired state of a MyDatabase."""

    version: Annotated[str, Pattern(r"^[0-9]+(\.[0-9]+)?$"), MaxLen(16)] = "14"
    """PostgreSQL version to run; 14 if unset."""

    replicas: Annotated[int32, Ge(1), Le(10)] = 1
    """Number of database pods, 1 to 10; 1 if unset."""

    storage: Quantity | None = None
    """Size of each pod's volume; 1Gi if unset. It can't change once the database is there."""

    retention: Literal["Retain", "Delete"] = "Retain"
    """What becomes of the volumes when the database is deleted; Retain if unset."""


@dataclass(kw_only=True)
class MyDatabaseStatus:
    """Observed state of a MyDatabase."""

    observed_generation: int64 | None = None
    """Generation of the spec that this status is about."""

    replicas: int32 = 0
    """Number of pods that exist."""

    ready_replicas: int32 = 0
    """Number of pods that serve."""

    updated_replicas: int32 = 0
    """Number of pods of the newest revision: the version, and all else, that the spec asks for."""

    selector: str = ""
    """Label selector of the pods, for the scale subresource."""

    conditions: Conditions = field(default_factory=list)
    """Validated, Ready, Reconciling and Stalled."""


@resource(
    group="example.com",
    version="v1",
    short_names=["db"],
    columns=[
        Column("Ready", condition="Ready"),
        Column("Reason", condition="Ready", show="reason"),
        Column("Replicas", path="status.ready_replicas"),
        Column("Version", path="spec.version"),
        Age(),
    ],
    scale=Scale(spec="spec.replicas", status="status.replicas", selector="status.selector"),
)
@dataclass(kw_only=True)
class MyDatabase(Object):
    """A PostgreSQL database run as a StatefulSet."""

    spec: MyDatabaseSpec = field(default_factory=MyDatabaseSpec)
    status: MyDatabaseStatus = field(default_factory=MyDatabaseStatus)
