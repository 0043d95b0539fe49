"""Which fields a value has, as sets of paths: what server-side apply reckons with.

A path is a tuple of steps in the notation of managedFields' FieldsV1: ``f:name`` for a field, ``k:{"type":"Ready"}``
for an item of a list of type map, ``v:"a"`` for one of a set. Lists of other types are fields without inner life.

Source: sigs.k8s.io/structured-merge-diff, typed/tofieldset.go.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyopscaffold.schema import Schema

Path: TypeAlias = tuple[str, ...]
Fields: TypeAlias = frozenset[Path]

INNER: Final = object()
"""Stands for the value of a field that others lie in."""

EMPTY: Final = object()
"""Stands for the value of a list whose items would be fields, and that has none."""


def of(value: Any, schema: Schema | None) -> dict[Path, Any]:
    """Return the fields of a value with their values; below no schema, maps are taken apart and lists are not.

    An empty list whose items would be fields is a field, too: an apply of one owns nothing, see ``owned``.
    """
    return dict(_walk(value, schema, ()))


def owned(value: Any, schema: Schema | None) -> set[Path]:
    """Return the fields that an apply of a value owns."""
    return {path for path, item in _walk(value, schema, ()) if item is not EMPTY}


def _walk(value: Any, schema: Schema | None, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and not is_atomic(schema):
        if not value and path:
            yield path, value
        for name, item in value.items():
            step = (*path, f"f:{name}")
            if item not in (None, {}) and not _is_named(schema, name):
                yield step, INNER if _has_inner(item, below(schema, name)) else item
            yield from _walk(item, below(schema, name), step)
    elif isinstance(value, list) and is_keyed(schema):
        if not value:
            yield path, EMPTY
        for item in value:
            step = (*path, step_of(item, schema))
            yield step, INNER if isinstance(item, dict) and item else item
            yield from _walk(item, schema.items if schema else None, step)
    elif path:
        yield path, value


def _has_inner(value: Any, schema: Schema | None) -> bool:
    return (isinstance(value, dict) and not is_atomic(schema)) or (isinstance(value, list) and is_keyed(schema))


def _is_named(schema: Schema | None, name: str) -> bool:
    return schema is not None and name in schema.properties


def below(schema: Schema | None, name: str) -> Schema | None:
    """Return the schema of a field."""
    return None if schema is None else schema.properties.get(name, schema.additional_properties)


def is_atomic(schema: Schema | None) -> bool:
    """Whether a map has one owner as a whole."""
    return schema is not None and schema.map_type == "atomic"


def is_keyed(schema: Schema | None) -> bool:
    """Whether the items of a list have owners of their own."""
    return schema is not None and schema.list_type in {"map", "set"}


def step_of(item: Any, schema: Schema | None) -> str:
    """Return the step to an item of a list of type map or set."""
    if schema is None or schema.list_type == "set" or not isinstance(item, dict):
        return f"v:{_compact(item)}"
    keys = {}
    for key in schema.list_map_keys:
        inner = schema.items.properties.get(key) if schema.items else None
        found = item.get(key, inner.default if inner else None)
        if isinstance(found, str | int | float | bool):
            keys[key] = found
    return f"k:{_compact(keys)}"


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; to Python, true is 1."""
    encode = msgspec.json.encode
    return bool(one == other) and encode(one, order="sorted") == encode(other, order="sorted")


def with_parents(fields: Iterable[Path]) -> set[Path]:
    """Return the fields and all that they lie in."""
    return {path[:length] for path in fields for length in range(1, len(path) + 1)}


def with_named_parents(fields: Iterable[Path], schema: Schema | None) -> set[Path]:
    """Return the fields and those that they lie in by a name of the schema; not keys of maps, nor items of lists."""
    found = set(fields)
    for path in list(found):
        node = schema
        for length, step in enumerate(path[:-1], start=1):
            name = step.partition(":")[2]
            if not step.startswith("f:"):
                node = None if node is None else node.items
                continue
            if _is_named(node, name):
                found.add(path[:length])
            node = below(node, name)
    return found


def to_json(fields: Iterable[Path]) -> dict[str, Any]:
    """Return the FieldsV1 form."""
    found = sorted(fields)
    root: dict[str, Any] = {}
    for path in found:
        node = root
        for step in path:
            node = node.setdefault(step, {})
    inner = with_parents(path[:-1] for path in found)
    for path in found:
        if path in inner:
            node = root
            for step in path:
                node = node[step]
            node["."] = {}
    return root


def from_json(data: Mapping[str, Any]) -> Fields:
    """Read the FieldsV1 form."""
    return frozenset(_read(data, ()))


def _read(data: Mapping[str, Any], path: Path) -> Iterator[Path]:
    if path and (not data or "." in data):
        yield path
    for step, inner in data.items():
        if step != ".":
            yield from _read(inner, (*path, step))


def without(value: Any, schema: Schema | None, gone: set[Path], path: Path = ()) -> Any:
    """Return the value without the fields of a set and all that lies in them; what is emptied by that is None."""
    if isinstance(value, dict) and value:
        kept = {name: item for name, item in value.items() if (*path, f"f:{name}") not in gone}
        left = {name: without(item, below(schema, name), gone, (*path, f"f:{name}")) for name, item in kept.items()}
        return left or None
    if isinstance(value, list) and value and schema is not None and is_keyed(schema):
        steps = [((*path, step_of(item, schema)), item) for item in value]
        return [without(item, schema.items, gone, step) for step, item in steps if step not in gone] or None
    return value


def show(path: Path) -> str:
    """Write a path as the causes of a conflict have it: ``.spec.ports[containerPort=80].name``."""
    text = ""
    for step in path:
        mark, _, rest = step.partition(":")
        if mark == "f":
            text += f".{rest}"
        elif mark == "k":
            text += f"[{','.join(f'{key}={_compact(item)}' for key, item in json.loads(rest).items())}]"
        else:
            text += f"[={rest}]"
    return text
