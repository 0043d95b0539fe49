"""Dataclass → JSON mapping. The answer shares no container with the object that it was made from.

What is written is decided by the class of the value, not of the field: a subclass is written whole.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias

from pyopscaffold.api import Object
from pyopscaffold.api.introspect import FieldInfo, fields_of
from pyopscaffold.codec import source
from pyopscaffold.codec.misfit import Misfit
from pyopscaffold.kube.duration import format_duration
from pyopscaffold.kube.meta import Microseconds, ObjectMeta, micro_time

Dump: TypeAlias = Callable[[Any], Any]

_AS_IT_IS: tuple[type, ...] = (str, int, bool, type(None))


def dump(value: Any) -> Any:
    """Return the JSON form of a value; raises Misfit where there is none."""
    return _dumpers[value.__class__](value)


class _Dumpers(dict[type, Dump]):
    """What writes the values of a class; found out once."""

    def __missing__(self, cls: type) -> Dump:
        made = self[cls] = _dataclass_dumper(cls) if dataclasses.is_dataclass(cls) else _dumper_of(cls)
        return made


def _dumper_of(cls: type) -> Dump:
    for base, dumper in _BY_TYPE:
        if issubclass(cls, base):
            return dumper
    raise Misfit(f"a value of type {cls.__name__} has no JSON form")


def _dataclass_dumper(cls: type) -> Dump:
    head = {"apiVersion": cls.api_version, "kind": cls.kind} if issubclass(cls, Object) else {}
    # what the server fills in is empty in a new object: it must not be claimed
    write = _unless_empty if issubclass(cls, ObjectMeta) else _unless_none
    body = [
        f"mapping = {head!r}",
        'at = ""',
        "try:",
        "    pass",
        *(f"    {line}" for info in fields_of(cls) for line in write(info)),
        "except Misfit as misfit:",
        "    raise misfit.inside(at) from None",
        "return mapping",
    ]
    names = {"Misfit": Misfit, "dumpers": _dumpers, "microseconds": _microseconds}
    return source.function("obj", body, names, of=cls)


def _unless_none(info: FieldInfo) -> Iterator[str]:
    target = f"mapping[{info.json_name!r}]"
    yield f"value = obj.{info.name}"
    if any(info.type is kind for kind in _AS_IT_IS):
        yield f"if value.__class__ is {info.type.__name__}: {target} = value"
        yield "elif value is not None:"
    else:
        yield "if value is not None:"
    yield f"    at = {'.' + info.json_name!r}"
    microseconds = any(isinstance(marker, Microseconds) for marker in info.metadata)
    yield f"    {target} = {'microseconds' if microseconds else 'dumpers[value.__class__]'}(value)"
    if info.keeps_null:
        yield f"else: {target} = None"


def _unless_empty(info: FieldInfo) -> Iterator[str]:
    yield f"if value := obj.{info.name}:"
    yield f"    at = {'.' + info.json_name!r}"
    yield f"    mapping[{info.json_name!r}] = dumpers[value.__class__](value)"


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    mapping = {}
    key: Any = ""
    try:
        for key, item in value.items():
            name = key if key.__class__ is str else _key(key)
            mapping[name] = item if item.__class__ is str else _dumpers[item.__class__](item)
    except Misfit as misfit:
        raise misfit.inside(f"[{key!r}]" if isinstance(key, str) else "") from None
    return mapping


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Misfit(f"JSON keys are strings, and {key!r} is none")
    return str(dump(key))


def _list(value: Any) -> list[Any]:
    items: list[Any] = []
    try:
        for item in value:
            items.append(item if item.__class__ is str else _dumpers[item.__class__](item))  # noqa: PERF401 - as above
    except Misfit as misfit:
        raise misfit.inside(f"[{len(items)}]") from None
    return items


def _set(value: Any) -> list[Any]:
    items = _list(value)
    try:
        return sorted(items)
    except TypeError:  # numbers and strings, or objects
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def _enum(value: enum.Enum) -> Any:
    return dump(value.value)


def _same(value: Any) -> Any:
    return value


def _float(value: float) -> float:
    if not math.isfinite(value):
        raise Misfit(f"{value} has no JSON form")
    return float(value)


def _datetime(value: datetime) -> str:
    return _in_utc(value).isoformat() + "Z"


def _microseconds(value: Any) -> Any:
    return micro_time(_in_utc(value)) if isinstance(value, datetime) else dump(value)


def _in_utc(value: datetime) -> datetime:
    if value.tzinfo is UTC:  # as what was read is
        return value.replace(tzinfo=None)
    if value.utcoffset() is None:
        raise Misfit(f"{value!r} has no time zone; write datetime.now(UTC), not datetime.now()")
    try:
        return value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError as error:
        raise Misfit(f"{value!r} is outside of the years 1 to 9999 in UTC") from error


def _timedelta(value: timedelta) -> str:
    try:
        return _format_duration(value)
    except ValueError as error:
        raise Misfit(str(error)) from error


def _bytes(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


_format_duration = lru_cache(maxsize=1024)(format_duration)  # the same few come over and over
_dumpers = _Dumpers(dict.fromkeys(_AS_IT_IS, _same))

# subclasses come as the plain types that msgspec writes
_BY_TYPE: tuple[tuple[Any, Dump], ...] = (
    (enum.Enum, _enum),
    (str, str.__str__),
    (int, int),
    (float, _float),
    (Mapping, _mapping),
    ((list, tuple), _list),
    ((set, frozenset), _set),
    (datetime, _datetime),
    (timedelta, _timedelta),
    ((bytes, bytearray), _bytes),
)
