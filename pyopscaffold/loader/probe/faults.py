"""Why fields can't be read, or are not what they look like."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, get_origin

from pyopscaffold.api.introspect import hints_in, unwrap

from .values import to_json

_BUILTIN = ("str", "int", "float", "bool", "bytes", "list", "dict", "set", "frozenset", "tuple", "object")
_MADE: dict[Any, type] = {
    **{kind: kind for kind in (str, int, float, bool, bytes, list, dict, set, frozenset, tuple)},
    Sequence: list,
    Mapping: dict,
    MutableMapping: dict,
}
"""Types whose values are told by their class, and what makes one."""
_OTHER_TYPES = {"IntOrString", "SchemaType", "Schemaless"}
"""Markers that let values of other types in."""


def hidden(cls: Any) -> list[str]:
    """Return the fields whose default stands where hints look for a type: in the class, under the type's name."""
    bare = (dataclasses.MISSING, dataclasses.MISSING)
    given = {name: (field.default, field.default_factory) for name, field in cls.__dataclass_fields__.items()}
    hints = [hint for base in cls.__mro__ for hint in inspect.get_annotations(base).values() if isinstance(hint, str)]
    hiding = [name for name in _BUILTIN if given.get(name, bare) != bare]
    said = {name for hint in hints for name in _names_in(hint)} if hiding else ()
    return [name for name in hiding if name in said]


def _names_in(hint: str) -> Iterator[str]:
    """Yield the names that a hint says; texts in it may hold any word."""
    try:
        tree = ast.parse(hint.strip(), mode="eval")
    except SyntaxError:
        return
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def unreadable(cls: Any) -> Iterator[tuple[str, Exception]]:
    """Yield the fields of which the type hint or the default_factory raises, with what it raises."""
    for base in cls.__mro__:
        for name, hint in inspect.get_annotations(base).items():
            try:
                unwrap(hints_in(base, {name: hint})[name])
            except Exception as error:  # noqa: BLE001 - a hint may raise anything
                yield name, error
    for field in dataclasses.fields(cls):
        try:
            _ = field.default_factory is dataclasses.MISSING or field.default_factory()
        except Exception as error:  # noqa: BLE001 - as above
            yield field.name, error


def reason(cls: type, error: Exception) -> str:
    """Say why a field can't be read."""
    if not isinstance(error, NameError):
        return f"it can't be read: {type(error).__name__}: {error}"
    from pyopscaffold.api import deferred, failures  # noqa: PLC0415 - not cheap

    message = f"a type hint says {error.name}, which the module does not define when it runs"
    name, known = error.name or "", vars(sys.modules[cls.__module__])
    advice = deferred.advice(name, known) or failures.name_advice(name, known)
    otherwise = "define it there, or import it" if deferred.has_source(known) else deferred.WITHOUT_SOURCE
    return f"{message}; {advice or otherwise}"


def is_steady(cls: Any, name: str, default: Any) -> bool:
    """Whether a field's factory gives the same default again; time and chance do not."""
    factory = cls.__dataclass_fields__[name].default_factory
    return isinstance(factory, type) or factory is dataclasses.MISSING or to_json(factory()) == default


def misfit(cls: Any, info: Any) -> str | None:
    """Return what is wrong with the type of what a default_factory gives, None if nothing: Python does not look."""
    default, wanted = info.default, get_origin(info.type) or info.type
    either = any(type(marker).__name__ in _OTHER_TYPES for marker in info.metadata)
    factory = cls.__dataclass_fields__[info.name].default_factory
    if factory is dataclasses.MISSING or default is None or either:
        return None
    if not dataclasses.is_dataclass(wanted) and wanted not in _MADE:
        return None
    if isinstance(default, int | float if wanted is float else wanted) and (type(default) is bool) <= (wanted is bool):
        return None
    said = _MADE.get(wanted, wanted).__name__
    way = said if wanted in _MADE and isinstance(factory, type) else f"lambda: {said}(...)"
    return f"its default_factory makes {type(default).__name__}, where {said} is wanted; write default_factory={way}"


def plain_bases(cls: type) -> Iterator[tuple[type, str]]:
    """Yield bases that look like dataclasses, with the names that their annotations lose."""
    known = {field.name for field in dataclasses.fields(cls)}
    for base in cls.__mro__[1:]:
        if "__dataclass_fields__" in vars(base):
            continue
        hints = {name: hint for name, hint in inspect.get_annotations(base).items() if name not in known}
        if lost := [name for name, hint in hints.items() if "ClassVar" not in str(hint)]:
            yield base, ", ".join(lost)


def init_only(cls: Any) -> list[str]:
    """Return the names of a dataclass's InitVars without a default: no object that is read has a value for them."""
    bare = {name: field for name, field in cls.__dataclass_fields__.items() if field.default is dataclasses.MISSING}
    return [name for name, field in bare.items() if repr(getattr(field, "_field_type", "")) == "_FIELD_INITVAR"]
