"""Plurals."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, resource


@dataclass(kw_only=True)
class Spec:
    """What it is to be."""

    name: str


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Quota(Object):
    """A kind."""

    spec: Spec


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Proxy(Object):
    """A kind."""

    spec: Spec


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Gateway(Object):
    """A kind."""

    spec: Spec


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Bus(Object):
    """A kind."""

    spec: Spec


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Box(Object):
    """A kind."""

    spec: Spec


@resource(group="plural.example.com", version="v1")
@dataclass(kw_only=True)
class Dish(Object):
    """A kind."""

    spec: Spec
