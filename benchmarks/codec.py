"""How long the codec takes to read and to write an object whose spec has 40 fields.

    python benchmarks/codec.py

Read as the cache reads it, from JSON text to the author's class; written as the client writes it, from there to JSON
text. ``json.loads`` of the same text is the unit beside it, since it tells how fast the machine is.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.paired import Result, paired
from pyopscaffold import codec
from pyopscaffold.api import Ge, MaxLen, Object, Quantity, int32, resource

ROUNDS = 1000
BOUND = 40.0  # µs


class Mode(StrEnum):
    """How a database keeps its copies."""

    SYNC = "Sync"
    ASYNC = "Async"


@dataclass(kw_only=True)
class Resources:
    """What a container may use."""

    requests: dict[str, Quantity] = field(default_factory=dict)
    limits: dict[str, Quantity] = field(default_factory=dict)


@dataclass(kw_only=True)
class Port:
    """One port."""

    name: str
    port: Annotated[int32, Ge(1)]
    protocol: Literal["TCP", "UDP"] = "TCP"


@dataclass(kw_only=True)
class Backup:
    """When and where copies are kept."""

    schedule: str
    bucket: str
    keep: int = 7
    timeout: timedelta | None = None


@dataclass(kw_only=True)
class Spec:
    """Forty fields of every sort, as a full-grown database has them."""

    version: str
    image: str = "database"
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    image_pull_secret: str | None = None
    replicas: Annotated[int32, Ge(1)] = 1
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    partition: int | None = None
    priority: int = 0
    port: int = 5432
    admin_port: int | str = "admin"
    max_connections: int = 100
    paused: bool = False
    tls: bool = True
    read_only: bool = False
    auto_upgrade: bool | None = None
    host_network: bool = False
    ratio: float = 0.5
    storage: Quantity = "1Gi"
    memory: Quantity | None = None
    storage_class_name: str | None = None
    mode: Mode = Mode.ASYNC
    service_type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = "ClusterIP"
    cluster_domain: Annotated[str, MaxLen(253)] = "cluster.local"
    service_account_name: str | None = None
    scheduler_name: str = ""
    node_selector: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    databases: list[str] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    resources: Resources = field(default_factory=Resources)
    backup: Backup | None = None
    restored_from: Backup | None = None
    not_before: datetime | None = None
    maintenance_start: datetime | None = None
    grace_period: timedelta = timedelta(seconds=30)
    comment: str = ""


@resource(group="bench.example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    """The object to read and write."""

    spec: Spec


SPEC: dict[str, Any] = {
    "version": "17.2",
    "image": "registry.example.com/databases/server",
    "imagePullPolicy": "Always",
    "imagePullSecret": "registry",
    "replicas": 3,
    "minReadySeconds": 10,
    "revisionHistoryLimit": 5,
    "priority": 1000,
    "port": 5432,
    "adminPort": "admin",
    "maxConnections": 250,
    "paused": False,
    "tls": True,
    "readOnly": False,
    "autoUpgrade": True,
    "hostNetwork": False,
    "ratio": 0.75,
    "storage": "100Gi",
    "memory": "4Gi",
    "storageClassName": "fast",
    "mode": "Sync",
    "serviceType": "ClusterIP",
    "clusterDomain": "cluster.local",
    "serviceAccountName": "database",
    "schedulerName": "default-scheduler",
    "nodeSelector": {"disk": "ssd"},
    "labels": {"app": "database", "team": "storage"},
    "annotations": {"example.com/owner": "storage"},
    "parameters": {"shared_buffers": "1GB", "work_mem": "64MB"},
    "databases": ["orders", "users"],
    "extensions": ["postgis"],
    "ports": [{"name": "sql", "port": 5432, "protocol": "TCP"}, {"name": "metrics", "port": 9187}],
    "resources": {"requests": {"cpu": "500m", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
    "backup": {"schedule": "0 3 * * *", "bucket": "copies", "keep": 14, "timeout": "1h0m0s"},
    "notBefore": "2026-01-02T03:04:05Z",
    "gracePeriod": "1m0s",
    "comment": "made by the benchmark",
}
TEXT = json.dumps({"spec": SPEC}, separators=(",", ":")).encode()


def _read() -> None:
    for _ in range(ROUNDS):
        codec.decode(Thing, TEXT)


def _write() -> None:
    thing = codec.decode(Thing, TEXT)
    for _ in range(ROUNDS):
        msgspec.json.encode(codec.to_mapping(thing))


def _unit() -> None:
    for _ in range(ROUNDS):
        json.loads(TEXT)


def measure() -> tuple[Result, ...]:
    """Give the row of RESULTS.md."""
    steps = ((f"{ROUNDS} × decode", _read), (f"{ROUNDS} × encode", _write), (f"{ROUNDS} × json.loads", _unit))
    timings = paired(*steps, runs=20, warm_up=2)
    read, write, unit = (timing.median / ROUNDS * 1e6 for timing in timings)
    measured = f"{read:.0f} + {write:.0f} µs; `json.loads` alone {unit:.0f} µs"
    what = "decode + encode of a 40-field spec"
    return (Result(what, f"at most {BOUND:.0f} µs", measured, read + write <= BOUND, timings),)


if __name__ == "__main__":
    for result in measure():
        print(f"{result.what}: {result.measured} ({result.bound})")
        print("\n".join(str(timing) for timing in result.timings))
