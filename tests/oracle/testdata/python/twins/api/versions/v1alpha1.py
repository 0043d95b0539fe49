"""Version v1alpha1."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, resource


@dataclass(kw_only=True)
class TentSpec:
    """What a tent is to be in v1alpha1."""

    colour: str


@dataclass(kw_only=True)
class TentStatus:
    """What a tent is."""

    dry: bool = False


@resource(group="versions.example.com", version="v1alpha1", served=False, storage=False, deprecated="")
@dataclass(kw_only=True)
class Tent(Object):
    """A tent."""

    spec: TentSpec
    status: TentStatus | None = None
