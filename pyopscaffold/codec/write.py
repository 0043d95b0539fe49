"""Dataclass → JSON mapping. The answer shares no container with the object that it was made from."""

from __future__ import annotations

import base64
import dataclasses
import enum
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeAlias

from pyopscaffold.api import Object
from pyopscaffold.api.introspect import fields_of
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.kube.duration import format_duration
from pyopscaffold.kube.meta import ObjectMeta

Dump: TypeAlias = Callable[[Any], Any]

_PLAIN = frozenset({str, int, bool, float})


def dump(value: Any) -> Any:
    """Return the JSON form of a value; raises Misfit where there is none."""
    convert = _dumper_of(value.__class__)
    return value if convert is None else convert(value)


@cache
def _dumper_of(cls: type) -> Dump | None:
    """Return what writes values of a class, None if they are JSON already.

    By the class of the value, not of the field: a subclass is written whole.
    """
    if issubclass(cls, enum.Enum):
        return lambda value: dump(value.value)
    if dataclasses.is_dataclass(cls):
        return _dataclass_dumper(cls)
    for base, convert in _BY_TYPE:
        if issubclass(cls, base):
            return convert
    raise Misfit(f"a value of type {cls.__name__} has no JSON form")


def _dataclass_dumper(cls: type) -> Dump:
    fields = tuple((info.name, info.json_name) for info in fields_of(cls))
    head = {"apiVersion": cls.api_version, "kind": cls.kind} if issubclass(cls, Object) else {}
    # what the server fills in is empty in a new object: it must not be claimed
    omit_empty = issubclass(cls, ObjectMeta)

    def write(value: Any) -> dict[str, Any]:
        mapping: dict[str, Any] = dict(head)
        json_name = ""
        try:
            for name, json_name in fields:
                item = getattr(value, name)
                if item is None or (omit_empty and not item):
                    continue
                kind = item.__class__
                convert = None if kind in _PLAIN else _dumper_of(kind)
                mapping[json_name] = item if convert is None else convert(item)
        except Misfit as misfit:
            raise misfit.inside(f".{json_name}") from None
        return mapping

    return write


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    mapping = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise Misfit(f"JSON keys are strings, and {key!r} is none")
        try:
            mapping[str(key.value) if isinstance(key, enum.Enum) else key] = dump(item)
        except Misfit as misfit:
            raise misfit.inside(f"[{key!r}]") from None
    return mapping


def _list(value: Any) -> list[Any]:
    items: list[Any] = []
    for index, item in enumerate(value):
        try:
            items.append(dump(item))
        except Misfit as misfit:
            raise misfit.inside(f"[{index}]") from None
    return items


def _set(value: Any) -> list[Any]:
    return sorted(_list(value))


def _datetime(value: datetime) -> str:
    if value.utcoffset() is None:
        raise Misfit(f"{value!r} has no time zone; write datetime.now(UTC), not datetime.now()")
    return value.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _timedelta(value: timedelta) -> str:
    try:
        return format_duration(value)
    except ValueError as error:
        raise Misfit(str(error)) from error


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


_BY_TYPE: tuple[tuple[Any, Dump | None], ...] = (
    (bool, None),
    ((str, int, float, type(None)), None),
    (Mapping, _mapping),
    ((list, tuple), _list),
    ((set, frozenset), _set),
    (datetime, _datetime),
    (timedelta, _timedelta),
    ((bytes, bytearray), _bytes),
)
