"""The RedisCluster API, version v1alpha1: what users write, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pyopscaffold.api import (
    Age,
    Column,
    Conditions,
    Ge,
    Le,
    MaxLen,
    Object,
    Pattern,
    Scale,
    int32,
    int64,
    resource,
)


@dataclass(kw_only=True)
class RedisClusterSpec:
    """Desired state of a RedisCluster."""

    version: Annotated[str, Pattern(r"^[0-9]+(\.[0-9]+){0,2}$"), MaxLen(16)] = "7.4"
    """Redis version to run; 7.4 if unset."""

    replicas: Annotated[int32, Ge(1), Le(9)] = 1
    """Number of caches behind the Service, 1 to 9; 1 if unset."""


@dataclass(kw_only=True)
class RedisClusterStatus:
    """Observed state of a RedisCluster."""

    observed_generation: int64 | None = None
    """Generation of the spec that this status is about."""

    replicas: int32 = 0
    """Number of pods that exist."""

    ready_replicas: int32 = 0
    """Number of pods that serve."""

    selector: str = ""
    """Label selector of the pods, for the scale subresource."""

    secret: str = ""
    """Name of the Secret whose key password opens the caches."""

    conditions: Conditions = field(default_factory=list)
    """Ready, and while they hold Reconciling and Stalled."""


@resource(
    group="cache.example.com",
    version="v1alpha1",
    short_names=["redis"],
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
class RedisCluster(Object):
    """Redis caches behind one Service, opened by one password; each holds data of its own."""

    spec: RedisClusterSpec = field(default_factory=RedisClusterSpec)
    status: RedisClusterStatus = field(default_factory=RedisClusterStatus)
