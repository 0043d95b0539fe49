"""OpenAPI v3 as the API server publishes it → structural schemas, as CRDs need them.

References stay, as ``{"$ref": NAME}`` beside the description and defaults of the place that refers: the tool resolves
them when it reads the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.api.types import QUANTITY_PATTERN
from scripts.kubernetes_types.openapi import META, references

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scripts.kubernetes_types.openapi import Json, Published

_SCALARS: dict[str, Json] = {
    f"{META}.Time": {"type": "string", "format": "date-time"},
    f"{META}.MicroTime": {"type": "string", "format": "date-time"},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "x-kubernetes-int-or-string": True,
        "pattern": QUANTITY_PATTERN,
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"x-kubernetes-int-or-string": True},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    },
}
"""Types with a form of their own, as controller-gen writes them."""

_LEFT_OUT = {
    f"{META}.FieldsV1",
    f"{META}.ManagedFieldsEntry",
    f"{META}.ObjectMeta",
    f"{META}.OwnerReference",
    f"{META}.Condition",
}
"""What pyopscaffold.kube.meta has, or nobody embeds."""

_KEPT = frozenset({"description", "type", "format", "enum", "required"})
_LIST_MAP_KEYS = "x-kubernetes-list-map-keys"
_KEPT_EXTENSIONS = frozenset({"x-kubernetes-list-type", _LIST_MAP_KEYS, "x-kubernetes-map-type"})
_DROPPED = frozenset(
    {
        "x-kubernetes-group-version-kind",
        "x-kubernetes-patch-strategy",
        "x-kubernetes-patch-merge-key",
        "x-kubernetes-unions",
    }
)

_BY_REFERENCE = {"AzureDiskVolumeSource.cachingMode", "AzureDiskVolumeSource.kind"}
"""Defaults that Go's types state by the name of a constant (``+default=ref(X)``), which controller-gen skips."""

_EMPTY_DEFAULTS = {
    "ConfigMapEnvSource.name",
    "ConfigMapKeySelector.name",
    "ConfigMapProjection.name",
    "ConfigMapVolumeSource.name",
    "GRPCAction.service",
    "ReplicationControllerSpec.minReadySeconds",
    "SecretEnvSource.name",
    "SecretKeySelector.name",
    "SecretProjection.name",
}
"""Optional fields with an empty default that Go's types state (``+default=""``)."""


def types(published: Published) -> dict[str, Json]:
    """Return the structural schema of every type that is to be had, by its OpenAPI name."""
    wanted = [name for name in published.names if name not in _SCALARS and name not in _LEFT_OUT]
    # The server demands that every item of a list-map has its keys; some of Go's types have come to make them optional.
    keys = {place for name in wanted for place in _keys(published.schemas[name])}
    made = {name: _Type(name, keys).node(published.schemas[name]) for name in wanted}
    for schema in made.values():
        for child in schema.get("properties", {}).values():
            _have_keys(child, made)
    return made


def _have_keys(child: Json, made: Mapping[str, Json]) -> None:
    """Make a list-map whose keys may be missing a plain list: ServiceAccount.secrets, whose names are optional."""
    keys = child.get(_LIST_MAP_KEYS, ())
    item = made.get(child["items"]["$ref"]) if keys else None
    if item and any(key not in item.get("required", ()) and "default" not in item["properties"][key] for key in keys):
        del child[_LIST_MAP_KEYS]
        child["x-kubernetes-list-type"] = "atomic"


def _keys(schema: Json) -> Iterator[str]:
    """Yield the fields (``Type.field``) that are keys of the list-maps of a type."""
    for child in schema.get("properties", {}).values():
        for key in child.get(_LIST_MAP_KEYS, ()):
            yield f"{_reference(child['items']).rpartition('.')[2]}.{key}"


class _Type:
    """One type on its way; ``stated`` are places whose defaults are kept though they are empty."""

    def __init__(self, name: str, stated: set[str]) -> None:
        self._name = name.rpartition(".")[2]
        self._stated = _EMPTY_DEFAULTS | stated

    def node(self, schema: Json) -> Json:
        """Return a node in structural form."""
        if reference := _reference(schema):
            inner: Json = dict(_SCALARS.get(reference) or {"$ref": reference})
            beside = {"description", *_KEPT_EXTENSIONS}
            return inner | {key: value for key, value in schema.items() if key in beside}
        if unknown := schema.keys() - _KEPT - _KEPT_EXTENSIONS - _DROPPED - {"default", "properties", *_NODES}:
            raise ValueError(f"{self._name}: nobody has thought of {', '.join(sorted(unknown))}")
        node: Json = {key: value for key, value in schema.items() if key in _KEPT | _KEPT_EXTENSIONS}
        if "required" in node:
            node["required"] = sorted(node["required"])
        node |= {key: self.node(schema[key]) for key in _NODES if key in schema}
        if properties := schema.get("properties"):
            node["properties"] = self._properties(properties, schema.get("required", []))
        return node

    def _properties(self, properties: Json, required: list[str]) -> Json:
        found = {}
        for name, schema in properties.items():
            if f"{META}.FieldsV1" in references(schema):
                continue
            found[name] = self.node(schema)
            if name not in required and self._says_something(schema, f"{self._name}.{name}"):
                found[name]["default"] = schema["default"]
        return found

    def _says_something(self, schema: Json, place: str) -> bool:
        """Whether a default is the author's own.

        The server publishes Go's zero value for every field that Go always writes. In a CRD it would be written into
        objects, and would make required fields optional.
        """
        if "default" not in schema or schema["default"] == {} or place in _BY_REFERENCE:
            return False
        empty = schema["default"] in ("", 0) and schema["default"] is not False
        return not empty or place in self._stated


_NODES = ("items", "additionalProperties")


def _reference(schema: Json) -> str:
    """Return what a node refers to: plainly, or as the one member of an allOf."""
    junctor: list[Any] = schema.get("allOf", [schema])
    return next(iter(references(junctor)), "") if any("$ref" in member for member in junctor) else ""
