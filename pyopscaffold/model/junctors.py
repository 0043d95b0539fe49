"""``allOf``, ``anyOf``, ``oneOf`` and ``not``: schemas in JSON form that a structural schema may hold there.

They hold value validations only, and no field that the schema around them does not declare (source: "structural
schemas" in the Kubernetes documentation; k8s.io/apiextensions-apiserver/pkg/apiserver/schema/validation.go).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import nearest
from pyopscaffold.schema import regex

if TYPE_CHECKING:
    from pyopscaffold.schema import Schema

_LISTS = ("allOf", "anyOf", "oneOf")
_VALIDATIONS = (
    "format",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "enum",
    "required",
)
_KNOWN = (*_VALIDATIONS, *_LISTS, "not", "properties", "items")
_WORD = 2**63
"""Bounds and sizes are whole numbers of 64 bits to the API server."""
_INTEGER_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def added(schema: Schema, attribute: str, marker: Any) -> dict[str, Any]:
    """Return the change that a marker makes; a second one of the same name goes into ``allOf``, as both must hold."""
    value = marker.schemas[0] if attribute == "not_" else marker.schemas
    if not getattr(schema, attribute):
        return {attribute: value}
    key = {"any_of": "anyOf", "one_of": "oneOf", "not_": "not"}[attribute]
    return {"all_of": (*schema.all_of, {key: value if attribute == "not_" else list(value)})}


def misuse(name: str) -> Callable[[Any, Schema], str | None]:
    """Return the check of a marker called ``name``."""

    def check(marker: Any, schema: Schema) -> str | None:
        if not marker.schemas:
            return f'{name}() holds no schema; write {name}({{"required": ["name"]}}) or the like'
        faults = (fault for part in marker.schemas for fault in _faults(part, schema))
        return next((f"{name}: {fault}" for fault in faults), None)

    return check


def _faults(part: Any, around: Schema | None) -> Iterator[str]:
    """Yield what the API server would refuse in one schema, whose place ``around`` declares; None if anything goes."""
    if not isinstance(part, Mapping):
        yield f'{part!r} is no schema; write a dict such as {{"required": ["name"]}}'
        return
    for key, value in part.items():
        if key not in _KNOWN:
            yield _unknown(str(key))
        elif (expected := _expected(key, value)) is not None:
            yield f"{key} is {value!r}; write {expected}"
    for key in _LISTS:
        inner = part.get(key, [])
        if inner == _INTEGER_OR_STRING and around is not None and around.int_or_string:
            continue
        if not isinstance(inner, list | tuple):
            yield f"{key} is to be a list of schemas"
            continue
        for item in inner:
            yield from _faults(item, around)
    if "not" in part:
        yield from _faults(part["not"], around)
    if "items" in part and around is not None and around.items is None:
        yield "items is for list[...]"
    elif "items" in part:
        yield from _faults(part["items"], around and around.items)
    yield from _bad_fields(part, around)


def _expected(key: str, value: Any) -> str | None:  # noqa: PLR0911 - one case a form of values
    """Return what is to stand for the value of a validation, None if it is right as it is."""
    match key:
        case "format":
            return None if isinstance(value, str) else "a text"
        case "pattern":
            return _bad_pattern(value)
        case "enum":
            return None if isinstance(value, list | tuple) and value else "a list of values"
        case "required":
            named = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
            return None if named else "a list of JSON names"
        case "exclusiveMinimum" | "exclusiveMaximum":
            return None if isinstance(value, bool) else "True or False, beside the bound"
        case "minimum" | "maximum" | "multipleOf":
            number = isinstance(value, int | float) and not isinstance(value, bool) and -_WORD <= value < _WORD
            # The server cuts the fraction off a factor, and refuses every value where nothing is left.
            fitting = number and (key != "multipleOf" or value >= 1)
            return None if fitting else "a number" if key != "multipleOf" else "a whole number above 0"
        case _ if key in _VALIDATIONS:
            return (
                None if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _WORD else "0 or more"
            )
        case _:
            return None


def _bad_pattern(value: Any) -> str | None:
    if not isinstance(value, str):
        return "a text"
    try:
        regex.parse(value)
    except regex.BadPattern as fault:
        return f"what the API server can read: {fault}"
    return None


def _bad_fields(part: Mapping[str, Any], around: Schema | None) -> Iterator[str]:
    properties = part.get("properties", {})
    if not isinstance(properties, Mapping):
        yield "properties is to be a dict from JSON names to schemas"
        return
    for name, inner in properties.items():
        if name == "metadata":
            yield "nothing can be said of metadata in it; write a rule in CEL"
        declared = around.properties.get(name) if around is not None else None
        if around is not None and declared is None:
            near = nearest(str(name), around.properties)
            yield f"there is no field {name}; {f'did you mean {near}?' if near else 'declare it in the dataclass'}"
            continue
        yield from _faults(inner, declared)


def _unknown(key: str) -> str:
    if key in {"type", "description", "default", "nullable", "title", "additionalProperties"} or key.startswith("x-"):
        return f"{key} can't stand in it; write it on the field itself"
    camel = re.sub(r"_(\w)", lambda found: found[1].upper(), key)
    near = camel if camel in _KNOWN else nearest(key, _KNOWN)
    return f"there is no {key}; {f'did you mean {near}?' if near else 'write one of ' + ', '.join(_KNOWN)}"
