"""Structural schemas of Kubernetes' own types, by their OpenAPI names, read from what lies packed beside.

``make kubernetes-types`` makes the data from what a real API server publishes. A group is read when a type of it is
asked for, and a type is made with those that it reaches.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.schema import Schema, from_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

_API: Final = "io.k8s.api."
_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1"
BASIC: Final = {f"{_META}.ObjectMeta": "ObjectMeta", f"{_META}.Condition": "Condition"}
"""Types that have a shorter name, and a schema that is not here."""

_BESIDE: Final = {"description": "description", "default": "default", "x-kubernetes-map-type": "map_type"}
"""What a place that refers to a type may say in its stead."""

_INNER: Final = {"items": "items", "additionalProperties": "additional_properties"}


def is_builtin(name: str) -> bool:
    """Whether a name is that of a type that is told here."""
    module, _, kind = name.rpartition(".")
    return "." in module and kind in _types(module)


class Schemas:
    """Schemas by OpenAPI name, each made once; ``basic`` are those of the types with a short name."""

    def __init__(self, basic: Mapping[str, Schema]) -> None:
        self._basic = basic
        self._made: dict[str, Schema] = {}

    def of(self, name: str) -> Schema:
        """Return the schema of a type.

        Raises:
            KeyError: there is no such type.

        """
        if name in BASIC:
            return self._basic[BASIC[name]]
        if name not in self._made:
            self._made[name] = self._node(entry(name))
        return self._made[name]

    def _node(self, node: Json) -> Schema:
        if reference := node.get("$ref"):
            return self.of(reference).having(**{name: node[key] for key, name in _BESIDE.items() if key in node})
        own = from_mapping({key: value for key, value in node.items() if key not in {"properties", *_INNER}})
        inner: dict[str, Any] = {name: self._node(node[key]) for key, name in _INNER.items() if key in node}
        if properties := node.get("properties"):
            inner["properties"] = {name: self._node(child) for name, child in properties.items()}
        return own.having(**inner)


@cache
def names_by_properties() -> dict[frozenset[str], tuple[str, ...]]:
    """Return the types by the JSON names of their fields; not those with less than two, which others have as well."""
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for file in sorted(Path(__file__).parent.glob("*.json")):
        module = _META if file.stem == "meta.v1" else f"{_API}{file.stem}"
        for name, node in _types(module).items():
            if len(properties := frozenset(node.get("properties", ()))) > 1:
                found[properties] = (*found.get(properties, ()), f"{module}.{name}")
    return found


def entry(name: str) -> Json:
    """Return what is told of a type; KeyError where there is none."""
    module, _, kind = name.rpartition(".")
    found: Json = _types(module)[kind]
    return found


@cache
def _types(module: str) -> Json:
    short = "meta.v1" if module == _META else module.removeprefix(_API)
    file = Path(__file__).with_name(f"{short}.json")
    types: Json = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return types
