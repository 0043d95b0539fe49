"""Defaults and markers as JSON."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from operator import not_
from typing import TYPE_CHECKING, Any

from annotated_types import BaseMetadata, GroupedMetadata, Len, MaxLen, MinLen

from pyopscaffold.api.introspect import fields_of
from pyopscaffold.api.markers import Marker

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = {"pyopscaffold.kube.meta.Condition": "Condition", "pyopscaffold.kube.meta.ObjectMeta": "ObjectMeta"}
"""Classes that the tool knows by name."""


def is_marker(item: Any) -> bool:
    """Whether this is a marker or, by a slip that is told elsewhere, a marker's class."""
    cls = item if isinstance(item, type) else type(item)
    return issubclass(cls, Marker | BaseMetadata) or isinstance(item, GroupedMetadata)


def markers(metadata: tuple[Any, ...]) -> Iterator[list[Any]]:
    """Yield each marker as its name, its arguments (None for a marker's class) and those that JSON can't say."""

    def name_of(cls: type) -> str:
        return cls.__name__ if issubclass(cls, Marker) else f"annotated_types.{cls.__name__}"

    for item in metadata:
        cls: Any = type(item)
        if isinstance(item, type):
            if issubclass(item, Marker) or item.__module__ == "annotated_types":
                yield [name_of(item), None, []]
        elif isinstance(item, Marker) or _is_bound(cls):
            given = {field.name: _argument(getattr(item, field.name)) for field in _fields(item)}
            unfit = [name for name, (_, fits) in given.items() if not fits]
            yield [name_of(cls), {name: value for name, (value, _) in given.items()}, unfit]
        elif isinstance(item, GroupedMetadata):
            yield from markers(_parts(item))


def _parts(group: Any) -> tuple[Any, ...]:
    # Len compares its sizes to see what it is made of, which a text has it fail at; the loader says what is wrong.
    if type(group) is not Len:
        return tuple(group)
    least = (MinLen(group.min_length),) if group.min_length != 0 else ()
    return (*least, MaxLen(group.max_length)) if group.max_length is not None else least


@cache
def _is_bound(cls: Any) -> bool:
    """Whether a class is one of annotated-types that stands for itself; to ask its protocol each time takes long."""
    return cls.__module__ == "annotated_types" and GroupedMetadata not in cls.__mro__


def _fields(item: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()


def _argument(value: Any) -> tuple[Any, bool]:
    """Return a marker's argument as JSON, and whether JSON can say it; what it can't is shown as it is."""
    try:
        return strict(to_json(value)), True
    except Exception:  # noqa: BLE001 - the value is the user's own
        return repr(value), False


def strict(value: Any) -> Any:
    """Return a value that JSON has, which infinity and lone surrogates are not; raises ValueError for others."""
    if not (value is None or type(value) in {int, bool} or (type(value) is str and value.isascii())):
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def to_json(value: Any) -> Any:
    """Return a default as the codec writes it; raises what the value does, and ValueError for a key that is no text."""
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if type(value) in {list, tuple}:
        return [to_json(item) for item in value]
    if type(value) is dict:
        return {_key(name): to_json(item) for name, item in value.items()}
    if dataclasses.is_dataclass(value):
        # As the codec: of metadata, what is empty is left to the server.
        left_out = not_ if KNOWN.get(path(type(value))) == "ObjectMeta" else _is_none
        members = [(info, getattr(value, info.name)) for info in fields_of(type(value))]
        return {info.json_name: to_json(item) for info, item in members if info.keeps_null or not left_out(item)}
    # The codec takes msgspec in, a quarter of the start-up, and only times, bytes and sets need it.
    from pyopscaffold.codec.write import dump  # noqa: PLC0415

    return json.loads(json.dumps(dump(value)))


def _is_none(value: Any) -> bool:
    return value is None


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"the key {name!r} is no text")  # noqa: TRY004 - as all that is no JSON
    return str(name)


def path(hint: Any) -> str:
    """Return the dotted name of a type, "." where it has none."""
    return f"{getattr(hint, '__module__', '')}.{getattr(hint, '__qualname__', getattr(hint, '_name', ''))}"
