"""A ConfigMap's data as a dataclass: each key is a field.

The text of a key is the value where the field is a text of some kind: a str, an enum of texts, a time, a duration. Of
all other types it is JSON or YAML. ConfigMaps have no schema, so that a misspelt key is told, and not passed over.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from pyopscaffold import codec
from pyopscaffold.api.introspect import fields_of
from pyopscaffold.errors import CodecError, TenantConfigError
from pyopscaffold.kube.names import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T")
Values: TypeAlias = "dict[str, str | msgspec.Raw]"
"""Texts, which cost no more memory than the ConfigMap: a megabyte of JSON is thirty of Python objects."""

_as_json = msgspec.json.Decoder(msgspec.Raw).decode
_TEXTS = (str, bytes, datetime, timedelta)
_LARGEST = 16 * 1024
"""Characters of YAML: a tenant may not hold up the operator. JSON, read a hundred times faster, has no limit."""


def values(cls: type, data: Mapping[str, str], *, place: str) -> Values:
    """Return what ``data`` says by key, of JSON and YAML as JSON text; ``place`` names the ConfigMap.

    Raises:
        TenantConfigError: a key is none of the dataclass, or its text is no YAML.

    """
    known = {field.json_name: field for field in fields_of(cls)}
    found: Values = {}
    for key, text in data.items():
        if key not in known:
            meant = nearest(key, known)
            more = f"; did you mean {meant}?" if meant else f": {', '.join(known)}"
            raise TenantConfigError(f"{place}: {key}: there is no such key{more}")
        found[key] = text if _is_text(known[key].type) else _parsed(text, f"{place}: {key}")
    return found


def made(cls: type[T], sources: Sequence[tuple[str, Values]]) -> T:
    """Make the dataclass of what the places say, of which the later ones win.

    Raises:
        TenantConfigError: it does not fit; the message names the place and the path.

    """
    merged: Values = {}
    said_by: dict[str, str] = {}
    for place, found in sources:
        merged.update(found)
        said_by.update(dict.fromkeys(found, place))
    try:
        return codec.decode(cls, merged)
    except CodecError as error:
        path = error.path.removeprefix("$").removeprefix(".")
        own = [key for key in said_by if path == key or path.startswith((f"{key}.", f"{key}["))]
        place = said_by[max(own, key=len)] if own else sources[0][0]
        message = str(error).partition(f" at {error.path}: ")[2] or str(error)
        raise TenantConfigError(": ".join(filter(None, (place, path, message)))) from error


def _is_text(hint: Any) -> bool:
    origin = get_origin(hint) or hint
    if origin is Literal:
        return all(isinstance(value, str) for value in get_args(hint))
    if not isinstance(origin, type):
        return False
    if issubclass(origin, Enum):
        return all(isinstance(member.value, str) for member in origin)
    return issubclass(origin, _TEXTS)


def _parsed(text: str, place: str) -> msgspec.Raw:
    try:
        return _as_json(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    if len(text) > _LARGEST:
        raise TenantConfigError(f"{place}: more than {_LARGEST // 1024} KiB of YAML; write it as JSON")
    import yaml  # noqa: PLC0415 - most operators have no tenants, and most settings are JSON too

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, loader)):
            raise TenantConfigError(f"{place}: has an alias (*), by which a few lines may say millions; write it out")
        return msgspec.Raw(msgspec.json.encode(yaml.load(text, loader)))  # noqa: S506 - a safe one
    except (yaml.YAMLError, RecursionError, TypeError, ValueError) as error:
        problem = getattr(error, "problem", None) or type(error).__name__
        raise TenantConfigError(f"{place}: is no YAML: {problem}") from error
