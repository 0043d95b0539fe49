"""Fields that are optional, the spec among them."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, resource


@dataclass(kw_only=True)
class WishSpec:
    """What a wish is to be."""

    small: str | None = None
    big: str
    huge: str


@resource(group="optional.example.com", version="v1")
@dataclass(kw_only=True)
class Wish(Object):
    """A wish."""

    spec: WishSpec | None = None
