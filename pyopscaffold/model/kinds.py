"""API types and controllers as read from Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pyopscaffold.api.declarations import RbacRule
from pyopscaffold.api.resource import Column, Scale
from pyopscaffold.api.webhooks import WebhookConfigurationNames, WebhookDeclaration
from pyopscaffold.errors import Problem
from pyopscaffold.kube.gvk import GroupVersionKind


@dataclass(frozen=True, order=True)
class SourceSpan:
    """Where a declaration stands; ``file`` is relative to the project's root, or absolute outside of it."""

    file: str
    line: int


ScalarKind = Literal[
    "string", "integer", "number", "boolean", "datetime", "duration", "bytes", "int-or-string", "any", "unread"
]


@dataclass(frozen=True)
class ScalarType:
    """A leaf: its JSON type follows from ``kind`` and the field's markers."""

    kind: ScalarKind


UNREAD = ScalarType("unread")
"""The type of a field whose own can't be read, which is told: nothing that leads there is to be blamed."""


@dataclass(frozen=True)
class EnumType:
    """A closed set of values of one JSON type, in order of declaration; ``description`` is an Enum's docstring."""

    values: tuple[str | int, ...]
    description: str = ""


@dataclass(frozen=True)
class ListType:
    """A list; ``markers`` are the item's own."""

    items: TypeModel
    markers: tuple[Any, ...] = ()


@dataclass(frozen=True)
class MapType:
    """A mapping with string keys; ``markers`` are the value's own."""

    values: TypeModel
    markers: tuple[Any, ...] = ()


@dataclass(frozen=True)
class StructType:
    """A dataclass; ``description`` is its docstring, ``markers`` are its own and those of its bases."""

    name: str
    description: str
    fields: tuple[FieldModel, ...]
    span: SourceSpan
    markers: tuple[Any, ...] = ()


@dataclass(frozen=True)
class KnownType:
    """A type of Kubernetes itself whose schema is known: ``Condition``, ``ObjectMeta``."""

    name: str


TypeModel = ScalarType | EnumType | ListType | MapType | StructType | KnownType


@dataclass(frozen=True)
class FieldModel:
    """One field. ``default`` is a JSON value and only meaningful with ``has_default``.

    ``markers`` speak JSON names (the keys of a list-map), and bounds stand one by one (no ``Interval``, no ``Len``).
    """

    name: str
    json_name: str
    type: TypeModel
    span: SourceSpan
    markers: tuple[Any, ...] = ()
    optional: bool = False
    has_default: bool = False
    default: Any = field(default=None, hash=False)
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether the API demands the field: it has no default."""
        return not self.has_default


@dataclass(frozen=True, kw_only=True)
class KindModel:
    """One API type in one version.

    ``root`` is the class itself, without ``metadata``. Columns, scale and selectable paths are JSON paths
    (``.spec.replicas``) by now, with types inferred.
    """

    gvk: GroupVersionKind
    singular: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    columns: tuple[Column, ...]
    scale: Scale | None
    root: StructType
    served: bool
    storage: bool
    deprecated: str | None
    span: SourceSpan
    selectable: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    status_subresource: bool | None = None

    @property
    def description(self) -> str:
        """The docstring of the class."""
        return self.root.description

    @property
    def spec(self) -> StructType | None:
        """The desired state, where the kind has a ``spec``."""
        return self._part("spec")

    @property
    def status(self) -> StructType | None:
        """The observed state, where the kind has a ``status`` that is a dataclass."""
        return self._part("status")

    @property
    def has_status(self) -> bool:
        """Whether objects have a ``status``: a dataclass, or a dict."""
        return any(item.json_name == "status" for item in self.root.fields)

    @property
    def has_status_subresource(self) -> bool:
        """Whether the status is written apart: where there is one, unless the declaration says otherwise."""
        return self.has_status if self.status_subresource is None else self.status_subresource

    def _part(self, name: str) -> StructType | None:
        types = (item.type for item in self.root.fields if item.json_name == name)
        return next((found for found in types if isinstance(found, StructType)), None)


@dataclass(frozen=True, kw_only=True)
class ControllerModel:
    """One reconciler: what it reconciles, owns and watches, and whether it finalizes.

    ``has_status`` tells whether the kind that it reconciles, maybe another operator's, has a status to write.
    """

    name: str
    resource: GroupVersionKind
    owns: tuple[GroupVersionKind, ...]
    watches: tuple[GroupVersionKind, ...]
    finalizes: bool
    has_status: bool = True
    rbac: tuple[RbacRule, ...]
    span: SourceSpan


@dataclass(frozen=True, kw_only=True)
class ProjectModel:
    """Everything that a project's code declares, sorted; ``warnings`` are worth telling but stop nothing."""

    kinds: tuple[KindModel, ...]
    controllers: tuple[ControllerModel, ...]
    webhooks: tuple[WebhookDeclaration, ...] = ()
    webhook_names: WebhookConfigurationNames = field(default_factory=WebhookConfigurationNames)
    warnings: tuple[Problem, ...] = ()
