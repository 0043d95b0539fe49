"""Whether a JSON value fits a schema, as the API server judges it once defaults are in and unknown fields are out.

Source: k8s.io/kube-openapi/pkg/validation/validate, and apiextensions-apiserver pkg/apiserver/schema/{listtype,
objectmeta}. Left to the server: rules (CEL), the metadata of embedded resources, the formats ``email`` and ``uri``, and
what is its lapse rather than its law. It takes ``1.0`` for an integer, a list for a string with a format, and any
number for one of an enum that is the same without its fraction.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import is_dns1035_label
from pyopscaffold.schema import formats
from pyopscaffold.schema.structural import Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, order=True)
class Misfit:
    """One reason why a value does not fit; ``path`` is relative to the value, ``""`` for itself."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def validate(schema: Schema, value: Any) -> tuple[Misfit, ...]:
    """Return every misfit of ``value``; fields that the schema does not name are misfits, since defaults may have none.

    Rules are not checked.
    """
    return tuple(_check(schema, value, ""))


def _check(schema: Schema, value: Any, path: str) -> Iterator[Misfit]:
    if value is None:
        if not schema.nullable and schema.type:
            yield Misfit(path, "null is not allowed")
        return
    if not _type_fits(schema, value):
        expected = "an integer or a string" if schema.int_or_string else _ARTICLE[schema.type]
        yield Misfit(path, f"{_show(value)} is not {expected}")
        return
    if schema.enum and not any(_is_same(value, each) for each in schema.enum):
        yield Misfit(path, f"{_show(value)} is none of {', '.join(map(_show, schema.enum))}")
    match value:
        case bool():
            pass
        case int() | float():
            yield from _check_number(schema, value, path)
        case str():
            yield from _check_string(schema, value, path)
        case list():
            yield from _check_list(schema, value, path)
        case dict():
            yield from _check_object(schema, value, path)
    yield from _check_junctors(schema, value, path)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: True is not 1, as it is to Python."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(item, other[name]) for name, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _check_number(schema: Schema, value: float, path: str) -> Iterator[Misfit]:
    low, high = _bound(schema.minimum, value), _bound(schema.maximum, value)
    if low is not None and schema.exclusive_minimum and value <= low:
        yield Misfit(path, f"{value} is not more than {low}")
    elif low is not None and value < low:
        yield Misfit(path, f"{value} is less than {low}")
    if high is not None and schema.exclusive_maximum and value >= high:
        yield Misfit(path, f"{value} is not less than {high}")
    elif high is not None and value > high:
        yield Misfit(path, f"{value} is more than {high}")
    if schema.multiple_of is not None and not _is_multiple(value, schema.multiple_of):
        yield Misfit(path, f"{value} is no multiple of {schema.multiple_of}")
    type_ = "integer" if schema.int_or_string else schema.type
    width = schema.format if (type_, schema.format) in _WIDTHS else ""
    low, high = _WIDTHS.get((type_, width), (value, value))
    if not low <= value <= high:
        yield Misfit(path, f"{value} does not fit into {width or 'int64'}")


def _bound(bound: float | None, value: float) -> float | None:
    """Return a bound as the server holds it against ``value``: without its fraction where that is a whole number."""
    return int(bound) if bound is not None and isinstance(value, int) else bound


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return int(factor) > 0 and value % int(factor) == 0
    if factor <= 0:
        return False
    times = value / factor if factor >= 1 else 1 / factor * value
    return abs(times) < _WHOLE and abs(times - round(times)) <= _NEARLY * abs(round(times))


def _check_string(schema: Schema, value: str, path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_length, schema.max_length, path, "characters")
    if schema.pattern and (mismatch := _mismatch(schema.pattern, value)):
        yield Misfit(path, mismatch)
    if schema.format and not formats.fits(schema.format, value):
        yield Misfit(path, f"{_show(value)} has not the format {schema.format}")


def _mismatch(pattern: str, value: str) -> str | None:
    from pyopscaffold.schema import matcher, regex  # noqa: PLC0415 - an operator checks no value

    try:
        fits = matcher.matches(pattern, value)
    except regex.BadPattern as fault:
        return f"{_show(value)} can't be matched with {pattern}: {fault}"
    return None if fits else f"{_show(value)} does not match {pattern}"


def _check_list(schema: Schema, value: list[Any], path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_items, schema.max_items, path, "items")
    if schema.items is not None:
        for index, item in enumerate(value):
            yield from _check(schema.items, item, f"{path}[{index}]")
    if schema.list_type in {"set", "map"}:
        yield from _check_distinct(schema, value, path)


def _check_distinct(schema: Schema, value: list[Any], path: str) -> Iterator[Misfit]:
    seen = set()
    for index, item in enumerate(value):
        own = item
        if schema.list_type == "map" and isinstance(item, dict):
            own = {key: item[key] for key in schema.list_map_keys if key in item}
        text = json.dumps(own, sort_keys=True)
        if text in seen:
            what = "the keys of an earlier item" if schema.list_type == "map" else "an earlier item"
            yield Misfit(f"{path}[{index}]", f"it is the same as {what}")
        seen.add(text)


def _check_object(schema: Schema, value: Mapping[str, Any], path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_properties, schema.max_properties, path, "entries")
    for name in schema.required:
        if name not in value:
            yield Misfit(path, f"{name} is missing")
    for name, item in value.items():
        child = schema.properties.get(name, schema.additional_properties)
        if child is not None and schema.embedded_resource and name == "metadata":
            yield from _check_metadata(child, item, _below(path, name))
        elif child is not None:
            yield from _check(child, item, _below(path, name))
        elif not schema.preserve_unknown_fields and not (schema.embedded_resource and name in _TYPE_META):
            yield Misfit(path, f"there is no field {name}")
    if schema.embedded_resource:
        yield from _check_type_meta(value, path)


def _check_metadata(schema: Schema, value: Any, path: str) -> Iterator[Misfit]:
    """Check the metadata of an embedded resource, of which the server drops what is empty, and prunes nothing."""
    if isinstance(value, dict):
        value = {name: item for name, item in value.items() if item not in (None, "")}
    if value is not None:
        yield from _check(schema.rewritten(lambda part: part.having(preserve_unknown_fields=True)), value, path)


def _check_type_meta(value: Mapping[str, Any], path: str) -> Iterator[Misfit]:
    """Yield what is wrong with apiVersion and kind of an embedded resource, which need no schema to be checked."""
    for name in ("apiVersion", "kind"):
        if name not in value:
            yield Misfit(path, f"{name} is missing")
    version, kind = value.get("apiVersion", "v1"), value.get("kind", "Pod")
    if not isinstance(version, str) or not version or version.count("/") > 1:
        yield Misfit(_below(path, "apiVersion"), f"{_show(version)} is no group and version")
    if not isinstance(kind, str) or not is_dns1035_label(kind.lower()):
        yield Misfit(_below(path, "kind"), f"{_show(kind)} is no kind")


def _check_junctors(schema: Schema, value: Any, path: str) -> Iterator[Misfit]:
    for part in schema.all_of:
        yield from _check(_validations(part), value, path)
    fitting = [[not validate(_validations(part), value) for part in parts] for parts in (schema.any_of, schema.one_of)]
    if schema.any_of and not any(fitting[0]):
        yield Misfit(path, "it fits none of the schemas of anyOf")
    if schema.one_of and sum(fitting[1]) != 1:
        yield Misfit(path, f"it fits {sum(fitting[1]) or 'none'} of the schemas of oneOf, not one")
    if schema.not_ is not None and not validate(_validations(schema.not_), value):
        yield Misfit(path, "it fits the schema of not")


def _validations(part: Mapping[str, Any]) -> Schema:
    """Return what stands in a junctor as a schema; other fields than those it names are none of its business."""
    nested: dict[str, Any] = {
        "properties": {name: _validations(inner) for name, inner in part.get("properties", {}).items()},
        "items": _validations(part["items"]) if "items" in part else None,
        "not_": part.get("not"),
    }
    plain = {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", key): value for key, value in part.items()}
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items() if name != "not"}
    return Schema(**{**plain, **nested, "preserve_unknown_fields": True})


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_size(size: int, low: int | None, high: int | None, path: str, units: str) -> Iterator[Misfit]:
    if low is not None and size < low:
        yield Misfit(path, f"it has {size} of at least {low} {units}")
    if high is not None and size > high:
        yield Misfit(path, f"it has {size} of at most {high} {units}")


def _type_fits(schema: Schema, value: Any) -> bool:
    if schema.int_or_string:
        return isinstance(value, int | str) and not isinstance(value, bool)
    return schema.type not in _FITS or _FITS[schema.type](value)


def _show(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


_FITS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_ARTICLE = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_FLOAT = (2 - 2**-23) * 2.0**127
_WIDTHS = {
    ("integer", "int32"): (-(2**31), 2**31 - 1),
    ("integer", ""): (-(2**63), 2**63 - 1),
    ("number", "float"): (-_FLOAT, _FLOAT),
}
"""By type and format; an integer of any other format has 64 bits."""
_WHOLE = 2**53
_NEARLY = 1e-9
_TYPE_META = frozenset({"apiVersion", "kind", "metadata"})
