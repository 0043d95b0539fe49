"""Settings as dataclasses: plain data becomes values of them, and they become a JSON schema.

Keys are the fields' names with hyphens. Types are dataclasses, mappings of strings, enums and literals, and what
msgspec reads besides; what a field is for stands in the docstring below it.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import itertools
import textwrap
from collections.abc import Mapping
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import msgspec

from pyopscaffold.kube.names import nearest
from pyopscaffold.lint.config import Keys, Misfit

_WORDS = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}


def decode(kind: Any, data: Any, misfits: list[Misfit], keys: Keys = (), *, base: Any = None) -> Any:
    """Make a value of the type ``kind``; what does not fit is added to ``misfits``, and left as ``base`` has it."""
    if dataclasses.is_dataclass(kind):
        return _decode_class(cast("type[Any]", kind), data, misfits, keys, base)
    if get_origin(kind) is Mapping:
        if isinstance(data, dict):
            return {key: decode(get_args(kind)[1], value, misfits, (*keys, key)) for key, value in data.items()}
        misfits.append(Misfit(keys, "must be a table"))
        return {}
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError:
        misfits.append(Misfit(keys, _expected(kind, data)))
        return None


def schema(kind: Any, base: Any = None) -> dict[str, Any]:
    """Describe what :func:`decode` takes, as JSON Schema (2020-12); ``base`` has the defaults."""
    if dataclasses.is_dataclass(kind):
        described = docs(cast("type[Any]", kind))
        properties = {
            key: {"description": described.get(field.name, ""), **schema(hint, getattr(base, field.name, None))}
            for key, (field, hint) in keys_of(cast("type[Any]", kind)).items()
        }
        return {"type": "object", "additionalProperties": False, "properties": properties}
    if get_origin(kind) is Mapping:
        return {"type": "object", "additionalProperties": schema(get_args(kind)[1])}
    found = {"enum": list(names)} if (names := _choices(kind)) else msgspec.json.schema(kind)
    return found if base is None else {**found, "default": msgspec.to_builtins(base)}


def keys_of(kind: type[Any]) -> dict[str, tuple[dataclasses.Field[Any], Any]]:
    """Map each key that a dataclass takes to its field and that field's type; fields with an underscore are no keys."""
    hints = get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    return {field.name.replace("_", "-"): (field, hints[field.name]) for field in fields}


def docs(kind: type[Any]) -> dict[str, str]:
    """Read the docstrings below the fields of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    body = cast("ast.ClassDef", tree).body
    found = {}
    for statement, below in itertools.pairwise(body):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
    return found


def _decode_class(kind: type[Any], data: Any, misfits: list[Misfit], keys: Keys, base: Any) -> Any:
    if not isinstance(data, dict):
        misfits.append(Misfit(keys, "must be a table"))
        return kind()
    known, values, before = keys_of(kind), {}, len(misfits)
    for key, value in data.items():
        if key in known:
            field, hint = known[key]
            values[field.name] = decode(hint, value, misfits, (*keys, key), base=getattr(base, field.name, None))
        else:
            near = nearest(key.replace("_", "-"), known)
            way_out = f"did you mean {near}?" if near else f"there is {', '.join(known) or 'none here'}"
            misfits.append(Misfit((*keys, key), f"unknown key; {way_out}"))
    if len(misfits) > before:
        return base or kind()
    try:
        return dataclasses.replace(base, **values) if base is not None else kind(**values)
    except ValueError as error:  # what the class itself has against it
        misfits.append(Misfit(keys, str(error)))
        return base


def _expected(kind: Any, data: Any) -> str:
    if names := _choices(kind):
        near = nearest(str(data), names)
        return f"{data!r} is none of {', '.join(names)}" + (f"; did you mean {near}?" if near else "")
    return f"must be {_describe(kind)}"


def _describe(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return f"a list, each item {_describe(get_args(kind)[0])}"
    return _WORDS.get(kind) or " or ".join(_describe(part) for part in get_args(kind) if part is not NoneType)


def _choices(kind: Any) -> tuple[str, ...]:
    """Return the names of an enum or literal."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(map(str, kind)) if isinstance(kind, enum.EnumType) else ()
