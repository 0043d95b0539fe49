"""The meta/v1 types that every object carries, as plain dataclasses.

JSON names are the camelCase of the field names; unset optional fields are left out when written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal


@dataclass(frozen=True)
class Microseconds:
    """Stands on a time that the server reads as meta/v1 MicroTime: six digits of fraction, also of 0."""


MicroTime = Annotated[datetime, Microseconds()]
"""A meta/v1 MicroTime, such as the times of a Lease."""


def micro_time(when: datetime) -> str:
    """Write a time in UTC as meta/v1 MicroTime: ``2026-01-02T03:04:05.000678Z``."""
    return f"{when:%Y-%m-%dT%H:%M:%S.%f}Z"


@dataclass(kw_only=True)
class OwnerReference:
    """Who owns an object; the garbage collector deletes what has no owner left."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


@dataclass(kw_only=True)
class ObjectMeta:
    """Name, labels and lifecycle of an object (meta/v1 ObjectMeta without managedFields)."""

    name: str = ""
    generate_name: str | None = None
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: list[OwnerReference] = field(default_factory=list)
    finalizers: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Condition:
    """One observation of an object's state (meta/v1 Condition)."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""
    observed_generation: int | None = None
    last_transition_time: datetime | None = None
