"""Kinds that share types."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, resource
from twins.api.shared import parts


@dataclass(kw_only=True)
class ShopSpec(parts.Common):
    """What a shop is to be."""

    windows: dict[str, list[parts.Window]]
    """Opening hours by day."""

    break_: parts.Window | None = None


@resource(group="shared.example.com", version="v1")
@dataclass(kw_only=True)
class Shop(Object):
    """A shop."""

    spec: ShopSpec


@dataclass(kw_only=True)
class StallSpec(parts.Common):
    """What a stall is to be."""

    window: parts.Window
    """When it is open."""


@resource(group="shared.example.com", version="v1")
@dataclass(kw_only=True)
class Stall(Object):
    """A stall."""

    spec: StallSpec
