"""How server-side apply merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import ListAtomic, ListMap, ListSet, MapType, Object, atomic, int32, resource


@dataclass(kw_only=True)
class Door:
    """A door."""

    name: str
    side: str = "front"
    width: int32


@atomic
@dataclass(kw_only=True)
class Options:
    """Options that belong together."""

    heating: bool


@dataclass(kw_only=True)
class HouseSpec:
    """What a house is to be."""

    doors: Annotated[list[Door] | None, ListMap("name", "side")] = None
    gates: Annotated[list[Door] | None, ListMap("name")] = None
    owners: Annotated[list[str] | None, ListSet()] = None
    steps: Annotated[list[int32] | None, ListAtomic()] = None
    paint: Annotated[dict[str, str] | None, MapType("atomic")] = None
    notes: Annotated[dict[str, str] | None, MapType("granular")] = None
    door: Annotated[Door | None, MapType("granular")] = None
    back: Annotated[Door | None, MapType("atomic")] = None
    options: Options | None = None
    loose: Annotated[Options | None, MapType("granular")] = None


@resource(group="lists.example.com", version="v1")
@dataclass(kw_only=True)
class House(Object):
    """A house."""

    spec: HouseSpec
