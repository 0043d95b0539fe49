"""Fields that do not change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import CEL, Immutable, MaxLen, Object, cel, int32, resource


@cel("self.rack >= 0")
@dataclass(kw_only=True)
class Place:
    """Where a disk is."""

    room: Annotated[str, Immutable()]
    rack: Annotated[int32 | None, Immutable()] = None
    shelf: Annotated[str | None, CEL("self != 'x'"), Immutable()] = None


@dataclass(kw_only=True)
class DiskSpec:
    """A disk's wishes."""

    place: Annotated[Place, Immutable()]
    """Where it stands for good."""

    labels: Annotated[list[str] | None, MaxLen(3), Immutable()] = None
    former: Annotated[Place | None, Immutable()] = None


@resource(group="immutable.example.com", version="v1")
@dataclass(kw_only=True)
class Disk(Object):
    """A disk."""

    spec: DiskSpec
