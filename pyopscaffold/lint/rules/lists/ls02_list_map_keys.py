"""LS02: list types and their keys fit the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import listing, mapping
from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_KINDS = (
    (_TYPE, "array", ("atomic", "set", "map")),
    ("x-kubernetes-map-type", "object", ("atomic", "granular")),
)


def check(version: Version) -> Iterator[Hit]:
    """Report list types, their keys and map types that the API server refuses."""
    for node in version.nodes:
        for keyword, of, wanted in _KINDS:
            kind = node.schema.get(keyword)
            if kind is not None and kind not in wanted:
                message = f"{keyword} of {node.field} is {kind!r}, not one of {', '.join(wanted)}"
                yield Hit((*node.path, keyword), message, node.field)
            if kind is not None and node.type != of:
                yield Hit((*node.path, "type"), f"{node.field} has {keyword}, but is no {of}", node.field)
        if node.schema.get(_TYPE) == "map":
            yield from _keys(node)
        elif node.schema.get(_KEYS):
            yield Hit((*node.path, _TYPE), f"{node.field} has {_KEYS}, so {_TYPE} must be map", node.field)


def _keys(node: Node) -> Iterator[Hit]:
    keys, items = listing(node.schema.get(_KEYS)), mapping(node.schema.get("items"))
    if not keys:
        yield Hit((*node.path, _KEYS), f"{node.field} is a list-map without {_KEYS}", node.field)
    if items.get("type") != "object":
        place = ("items", "type") if isinstance(node.schema.get("items"), dict) else ("items",)
        yield Hit((*node.path, *place), f"{node.field} is a list-map, so its items must be objects", node.field)
    if items.get("nullable") is True:
        message = f"items of the list-map {node.field} can't be nullable"
        yield Hit((*node.path, "items", "nullable"), message, node.field)
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield Hit((*node.path, _KEYS, index), f"key {key!r} of {node.field} is listed twice", node.field)
        elif isinstance(key, str):
            yield from _key(node, index, key, items)


def _key(node: Node, index: int, key: str, items: dict[str, Any]) -> Iterator[Hit]:
    name, properties = f"key {key!r} of {node.field}", mapping(items.get("properties"))
    if key not in properties:
        if items.get("type") == "object":
            yield Hit((*node.path, _KEYS, index), f"{name} is no property of its items", node.field)
        return
    schema, path = mapping(properties[key]), (*node.path, "items", "properties", key)
    if schema.get("type") in ("object", "array") and items.get("type") == "object":
        yield Hit((*path, "type"), f"{name} is an {schema['type']}, but must be a scalar", node.field)
    if key not in listing(items.get("required")) and schema.get("default") is None:
        required = [*listing(items.get("required")), key]
        fix = Fix((Edit((*node.path, "items", "required"), required),), safe=False)
        yield Hit((*path, "default"), f"{name} must be required, or have a default", node.field, fix=fix)
    if schema.get("nullable") is True:
        yield Hit((*path, "nullable"), f"{name} can't be nullable", node.field)


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
    what="A list type is atomic, set or map, a map type atomic or granular; the keys of a list-map are scalar, "
    "required or defaulted properties of its items.",
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
        spec("name: {type: string, x-kubernetes-map-type: atomic}"),
        spec("name: {type: object, x-kubernetes-map-type: whole}"),
        _list(_NAMED, "{type: string, nullable: true}"),
        spec("items: {type: array, x-kubernetes-list-map-keys: [name], items: {type: string}}"),
    ),
    good_class=widget(
        '''
        ports: Annotated[list[Port], ListMap("name")] = field(default_factory=list)
        """Ports."""
        ''',
        before=struct("Port", "name: Annotated[str, MaxLen(15)]"),
    ),
)
