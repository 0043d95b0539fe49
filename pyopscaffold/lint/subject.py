"""What rules look at: a file, a manifest in it, a CRD, a version of it, a node of its schema.

Input may be anything, so each accessor gives an empty value where the YAML has another type than it should;
the rules about structure report that.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pyopscaffold.document.reader import Document, Path, Source, Unreadable
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint import shape
from pyopscaffold.lint.coretypes import core_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.shape import Fault


CRD_KIND = CUSTOM_RESOURCE_DEFINITION.kind
CRD_API_VERSION = CUSTOM_RESOURCE_DEFINITION.api_version
_NOT_TEMPLATED = frozenset({"schema", "validation"})
_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
_CHECKS = frozenset({"enum", "pattern", "format", "x-kubernetes-validations", *_JUNCTORS})
_RBAC = "rbac.authorization.k8s.io/"


@dataclass(frozen=True)
class File:
    """A file and the parts that it was read into."""

    source: Source
    parts: tuple[Document | Unreadable, ...]


@dataclass(frozen=True)
class Manifest:
    """One Kubernetes object; ``base`` is its path in the document, which is not empty within a ``List``."""

    document: Document
    base: Path
    data: dict[str, Any]

    @property
    def kind(self) -> str:
        """The kind, or ""."""
        return text(self.data.get("kind"))

    @property
    def api_version(self) -> str:
        """The apiVersion, or ""."""
        return text(self.data.get("apiVersion"))

    @property
    def name(self) -> str:
        """The name in metadata, or ""."""
        return text(mapping(self.data.get("metadata")).get("name"))

    @property
    def is_crd(self) -> bool:
        """Whether this is a CustomResourceDefinition of any version."""
        return self.kind == CRD_KIND and self.api_version.startswith(f"{CUSTOM_RESOURCE_DEFINITION.group}/")

    @property
    def role_rules(self) -> list[dict[str, Any]]:
        """The rules of a Role or ClusterRole; other kinds have none."""
        is_role = self.kind in {"Role", "ClusterRole"} and self.api_version.startswith(_RBAC)
        return [mapping(rule) for rule in listing(self.data.get("rules"))] if is_role else []

    @property
    def is_fragment(self) -> bool:
        """Whether this is a kustomize patch of a CRD: it names one, and says nothing of what makes a CRD."""
        return not mapping(self.data.get("spec")).keys() & {"group", "names", "versions"}

    @cached_property
    def is_template(self) -> bool:
        """Whether a value outside of schemas has ``{{``: the text parses, but a renderer is still to fill it in."""
        pending: list[Any] = [self.data]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                pending += [item for key, item in value.items() if key not in _NOT_TEMPLATED]
            elif isinstance(value, list):
                pending += value
            elif isinstance(value, str) and "{{" in value:
                return True
        return False


def manifests(document: Document) -> Iterator[Manifest]:
    """Iterate over the objects of a document; a ``List`` stands for its items, as in kubectl, at any depth."""
    pending: list[tuple[Path, Any]] = [((), document.data)]
    while pending:
        base, data = pending.pop()
        if not isinstance(data, dict):
            continue
        items = data.get("items")
        if text(data.get("kind")).endswith("List") and isinstance(items, list):
            pending += reversed([((*base, "items", index), item) for index, item in enumerate(items)])
        else:
            yield Manifest(document, base, data)


@dataclass(frozen=True)
class Crd:
    """A CustomResourceDefinition of apiextensions.k8s.io/v1."""

    manifest: Manifest

    @property
    def name(self) -> str:
        """The name in metadata, or ""."""
        return self.manifest.name

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The CRD's own spec."""
        return mapping(self.manifest.data.get("spec"))

    @cached_property
    def versions(self) -> tuple[Version, ...]:
        """The versions in the order of the text, an empty one for a null."""
        found = enumerate(listing(self.spec.get("versions")))
        return tuple(
            Version(self, ("spec", "versions", index), data or {})
            for index, data in found
            if data is None or isinstance(data, dict)
        )

    def have_same(self, key: str) -> bool:
        """Whether all versions have the same there: the server then reads it as said of the CRD as a whole."""
        first, *others = [version.data.get(key) for version in self.versions] or [None]
        return all(other == first or _meaning(other) == _meaning(first) for other in others)


def _meaning(value: Any) -> Any:
    """Leave out what is empty, which is nothing to the server, save as a default."""
    if isinstance(value, dict):
        parts = ((name, _meaning(item)) for name, item in value.items())
        return {name: part for name, part in parts if part not in (None, "", [], {}) or name == "default"}
    return [_meaning(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Version:
    """One version of a CRD."""

    crd: Crd
    path: Path
    data: dict[str, Any] = dataclasses.field(repr=False)

    @property
    def name(self) -> str:
        """The version's name, or ""."""
        return text(self.data.get("name"))

    @property
    def has_status_subresource(self) -> bool:
        """Whether the status is a subresource, of any version that has the same schema as all others."""
        if self.enables_status:
            return True
        return any(version.enables_status for version in self.crd.versions) and self.crd.have_same("schema")

    @property
    def enables_status(self) -> bool:
        """Whether it enables the status subresource itself."""
        return mapping(self.data.get("subresources")).get("status") is not None

    @cached_property
    def root(self) -> Node | None:
        """The root of the schema, or None where the version has none."""
        schema = mapping(self.data.get("schema")).get("openAPIV3Schema")
        return Node(schema, (*self.path, "schema", "openAPIV3Schema"), "") if isinstance(schema, dict) else None

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes of the schema, parents before children, in the order of the text."""
        if self.root is None:
            return ()
        found, pending = [], [self.root]
        while pending:
            node = pending.pop()
            found.append(node)
            pending += reversed(tuple(node.children()))
        return tuple(found)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What the server can't read of the schema, with paths below its root."""
        return tuple(shape.faults(self.root.schema, shape.SCHEMA)) if self.root else ()

    @cached_property
    def subschemas(self) -> tuple[Subschema, ...]:
        """All nodes of the schema as they stand, and after them what stands in their junctors."""
        plain = [Subschema(node, node.schema, node.path) for node in self.nodes]
        return (*plain, *(inner for node in self.nodes for inner in node.restrictions()))

    def own(self, *parts: str) -> Iterator[Node]:
        """Iterate over the nodes below and including ``parts`` (spec, status) that the API's author shaped.

        The inside of embedded Kubernetes types is left out.
        """
        return (node for node in self.nodes if node.part in parts and not node.core)

    @property
    def status(self) -> Node | None:
        """The schema of ``status``, or None."""
        return self.root.property("status") if self.root else None

    @property
    def conditions(self) -> Node | None:
        """The schema of ``status.conditions``, or None."""
        return self.status.property("conditions") if self.status else None


def field_at(path: Path) -> str:
    """Write a path below the root of a schema as the field that it is about, as far as it leads to one."""
    field, pending = "", list(reversed(path))
    while pending:
        match pending.pop():
            case "properties" if pending:
                field += f".{pending.pop()}"
            case "items":
                field += "[]"
            case "additionalProperties":
                field += "{}"
            case _:
                break
    return field


class Subschema(NamedTuple):
    """A schema and its path in the manifest: a node's own, or one in a junctor that restricts the node's value."""

    node: Node
    schema: dict[str, Any]
    path: Path

    @property
    def is_restriction(self) -> bool:
        """Whether it stands in a junctor."""
        return self.schema is not self.node.schema


@dataclass(frozen=True, eq=False)
class Node:
    """One node of a schema.

    ``path`` leads to it in the manifest, ``field`` in the user's objects: ``.spec.items[].labels{}``, where ``[]``
    stands for the items of a list and ``{}`` for the values of a map. ``name`` is the property's name, "" for the
    root, items and values. ``core`` names the Kubernetes type that the node is a part of, or is "".
    """

    schema: dict[str, Any] = dataclasses.field(repr=False)
    path: Path
    field: str
    name: str = ""
    parent: Node | None = dataclasses.field(default=None, repr=False)
    part: str = ""
    depth: int = 0
    core: str = ""

    @property
    def type(self) -> str:
        """The type, or ""."""
        return text(self.schema.get("type"))

    @cached_property
    def core_type(self) -> str:
        """The Kubernetes type that this node embeds, or ""."""
        return core_type(self.schema)

    @property
    def properties(self) -> dict[str, Any]:
        """The properties, or an empty mapping."""
        return mapping(self.schema.get("properties"))

    @property
    def required(self) -> list[Any]:
        """The names of required properties."""
        return listing(self.schema.get("required"))

    @property
    def is_required(self) -> bool:
        """Whether this is a property that must be there where the object around it is."""
        return self.parent is not None and self.name in self.parent.required

    @property
    def has_default(self) -> bool:
        """Whether there is a default; null is none."""
        return self.schema.get("default") is not None

    @property
    def rules(self) -> list[str]:
        """The expressions of its CEL rules."""
        return [text(mapping(rule).get("rule")) for rule in listing(self.schema.get("x-kubernetes-validations"))]

    @property
    def is_checked(self) -> bool:
        """Whether a value is held to more than a type and a size."""
        return not _CHECKS.isdisjoint(self.schema)

    @property
    def holder(self) -> Node:
        """The property that has this node as, or among, its items and values; a property is its own."""
        return self if self.name or self.parent is None else self.parent.holder

    @property
    def items(self) -> Node | None:
        """The node of a list's items, or None."""
        return self._inner("items", "[]")

    @property
    def values(self) -> Node | None:
        """The node of a map's values, or None."""
        return self._inner("additionalProperties", "{}")

    def property(self, name: str) -> Node | None:
        """Give the node of one property, or None."""
        schema = self.properties.get(name)
        if not isinstance(schema, dict):
            return None
        return self._child(schema, ("properties", name), f"{self.field}.{name}", name)

    def children(self) -> Iterator[Node]:
        """Iterate over properties, items and values; not over what stands in allOf, anyOf, oneOf or not."""
        for name in self.properties:
            child = self.property(name)
            if child is not None:
                yield child
        yield from filter(None, (self.items, self.values))

    def restrictions(self) -> Iterator[Subschema]:
        """Iterate over the schemas in allOf, anyOf, oneOf and not, and over what is within them."""
        pending = list(_branches(self.schema, self.path)) if self.schema.keys() & _JUNCTORS else []
        while pending:
            path, schema = pending.pop()
            yield Subschema(self, schema, path)
            parts: list[tuple[Path, Any]]
            parts = [(("properties", name), part) for name, part in mapping(schema.get("properties")).items()]
            parts += [((keyword,), schema.get(keyword)) for keyword in ("items", "additionalProperties")]
            pending += [((*path, *step), part) for step, part in parts if isinstance(part, dict)]
            pending += _branches(schema, path)

    def _inner(self, keyword: str, suffix: str) -> Node | None:
        schema = self.schema.get(keyword)
        return self._child(schema, (keyword,), self.field + suffix, "") if isinstance(schema, dict) else None

    def _child(self, schema: dict[str, Any], step: Path, place: str, name: str) -> Node:
        return Node(
            schema,
            (*self.path, *step),
            place,
            name,
            self,
            self.part or name,
            self.depth + bool(name),
            self.core or self.core_type,
        )


def _branches(schema: dict[str, Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(listing(schema.get(keyword))):
            if isinstance(branch, dict):
                yield (*path, keyword, index), branch
    if isinstance(schema.get("not"), dict):
        yield (*path, "not"), schema["not"]
