"""Metadata inside of objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pyopscaffold.api import KeepMetadata, Object, ObjectMeta, resource


@dataclass(kw_only=True)
class Template:
    """A template."""

    metadata: Annotated[ObjectMeta | None, KeepMetadata()] = None
    """Its metadata."""

    name: str


@dataclass(kw_only=True)
class FormSpec:
    """What a form is to be."""

    template: Template | None = None
    templates: list[Template] | None = None
    by_name: dict[str, Template] | None = None

    meta: Annotated[ObjectMeta | None, KeepMetadata()] = None
    """Metadata alone."""


@resource(group="options.example.com", version="v1")
@dataclass(kw_only=True)
class Form(Object):
    """A form."""

    spec: FormSpec
