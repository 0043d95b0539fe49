"""What the schema leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import (
    JSON,
    EmbeddedResource,
    IntOrString,
    MaxLen,
    Object,
    ObjectMeta,
    PreserveUnknownFields,
    RawExtension,
    Schemaless,
    SchemaType,
    resource,
)


@dataclass(kw_only=True)
class Part:
    """A part that is known."""

    name: str


@dataclass(kw_only=True)
class BoxSpec:
    """What a box is to hold."""

    raw: RawExtension | None = None
    """A raw object."""

    raws: list[RawExtension] | None = None

    any: JSON = None
    """Any JSON."""

    anys: dict[str, JSON] | None = None
    part: Annotated[Part | None, PreserveUnknownFields()] = None
    other: Annotated[Part | None, PreserveUnknownFields()] = None

    object: Annotated[RawExtension | None, EmbeddedResource()] = None
    """A whole object."""

    thing: Annotated[RawExtension | None, EmbeddedResource()] = None
    whatever: Annotated[Part | None, Schemaless(), PreserveUnknownFields()] = None
    text: Annotated[str | None, Schemaless(), SchemaType("string"), MaxLen(5)] = None
    parts: list[Annotated[Part, PreserveUnknownFields()]] | None = None
    things: list[Annotated[RawExtension, EmbeddedResource()]] | None = None
    ports: list[Annotated[str, IntOrString()]] | None = None
    texts: list[Annotated[str, SchemaType("string")]] | None = None
    meta: ObjectMeta | None = None


@resource(group="open.example.com", version="v1")
@dataclass(kw_only=True)
class Box(Object):
    """A box."""

    spec: BoxSpec
