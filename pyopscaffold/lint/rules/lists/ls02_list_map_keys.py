"""LS02: list types and their keys fit the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version, listing, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def check(version: Version) -> Iterator[Hit]:
    """Report list types and keys that the API server refuses."""
    for node in version.nodes:
        kind = node.schema.get(_TYPE)
        if kind is not None and kind not in ("atomic", "set", "map"):
            yield Hit((*node.path, _TYPE), f"{_TYPE} of {node.field} is {kind!r}, not atomic, set or map", node.field)
        elif kind is not None and node.type != "array":
            yield Hit((*node.path, _TYPE), f"{node.field} has {_TYPE}, but is no array", node.field)
        elif kind == "map":
            yield from _keys(node)
        elif node.schema.get(_KEYS):
            yield Hit((*node.path, _KEYS), f"{node.field} has {_KEYS}, so {_TYPE} must be map", node.field)


def _keys(node: Node) -> Iterator[Hit]:
    path, keys = (*node.path, _KEYS), listing(node.schema.get(_KEYS))
    items = mapping(node.schema.get("items"))
    if not keys:
        yield Hit(node.path, f"{node.field} is a list-map without {_KEYS}", node.field)
    if items.get("type") != "object":
        yield Hit((*node.path, "items"), f"{node.field} is a list-map, so its items must be objects", node.field)
        return
    if items.get("nullable") is True:
        yield Hit(
            (*node.path, "items", "nullable"), f"items of the list-map {node.field} can't be nullable", node.field
        )
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield Hit((*path, index), f"key {key!r} of {node.field} is listed twice", node.field)
        else:
            for problem in _key_problems(key, items):
                yield Hit((*path, index), f"key {key!r} of {node.field} {problem}", node.field)


def _key_problems(key: object, items: dict[str, object]) -> Iterator[str]:
    properties = mapping(items.get("properties"))
    if not isinstance(key, str) or key not in properties:
        yield "is no property of its items"
        return
    schema = mapping(properties[key])
    if schema.get("type") in ("object", "array"):
        yield f"is an {schema['type']}, but must be a scalar"
    if key not in listing(items.get("required")) and schema.get("default") is None:
        yield "must be required, or have a default"
    if schema.get("nullable") is True:
        yield "can't be nullable"


def _list(keys: str, name: str, *, required: str = "required: [name], ") -> str:
    return spec(
        f"items: {{type: array, x-kubernetes-list-type: map, {keys}items: {{type: object, {required}"
        f"properties: {{name: {name}}}}}}}"
    )


_NAMED, _STRING = "x-kubernetes-list-map-keys: [name], ", "{type: string, maxLength: 63}"

RULE = Rule(
    id="LS02",
    name="list-map-keys",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="A list type is atomic, set or map; a map's keys are scalar, required or defaulted properties of its items.",
    why="The API server refuses it otherwise: without a value for each key it could not tell two items apart.",
    check=check,
    good=(
        _list(_NAMED, _STRING),
        _list(_NAMED, "{type: string, default: main, description: Defaults to main.}", required=""),
    ),
    bad=(
        _list("", _STRING),
        _list(_NAMED, _STRING, required=""),
        _list("x-kubernetes-list-map-keys: [id], ", _STRING),
        _list("x-kubernetes-list-map-keys: [name, name], ", _STRING),
        _list(_NAMED, "{type: array, items: {type: string}}"),
        spec("items: {type: array, x-kubernetes-list-type: bag, items: {type: string}}"),
        spec("name: {type: string, x-kubernetes-list-type: set}"),
        spec("items: {type: array, x-kubernetes-list-map-keys: [name], items: {type: string}}"),
    ),
)
