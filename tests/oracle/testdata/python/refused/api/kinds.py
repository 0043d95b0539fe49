"""Kinds that we refuse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pyopscaffold.api import Object, UniqueItems, resource


@dataclass(kw_only=True)
class UniqueSpec:
    """What it is to be."""

    names: Annotated[list[str], UniqueItems()] = field(default_factory=list)


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Unique(Object):
    """A Unique."""

    spec: UniqueSpec


@dataclass(kw_only=True)
class GrouplessSpec:
    """What it is to be."""

    name: str


@resource(group="", version="v1")
@dataclass(kw_only=True)
class Groupless(Object):
    """A Groupless."""

    spec: GrouplessSpec
