"""A kind without ``@resource``, which is none."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object


@dataclass(kw_only=True)
class HutSpec:
    """What a hut is to be nowhere."""

    colour: str


@dataclass(kw_only=True)
class Hut(Object):
    """A hut."""

    spec: HutSpec
