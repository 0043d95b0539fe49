"""Version v1."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, int32, resource


@dataclass(kw_only=True)
class TentSpec:
    """What a tent is to be in v1."""

    colour: str
    size: int32 | None = None


@dataclass(kw_only=True)
class TentStatus:
    """What a tent is."""

    dry: bool = False


@resource(
    group="versions.example.com",
    version="v1",
)
@dataclass(kw_only=True)
class Tent(Object):
    """A tent."""

    spec: TentSpec
    status: TentStatus | None = None
