"""Whether a JSON value fits a schema, as the API server judges it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyopscaffold.schema.structural import Schema


@dataclass(frozen=True, order=True)
class Misfit:
    """One reason why a value does not fit; ``path`` is relative to the value, ``""`` for itself."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def validate(schema: Schema, value: Any) -> tuple[Misfit, ...]:
    """Return every misfit of ``value``; fields that the schema does not name are misfits, since defaults may have none.

    Formats are not checked.
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
    if schema.enum and value not in schema.enum:
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


def _check_number(schema: Schema, value: float, path: str) -> Iterator[Misfit]:
    low, high = schema.minimum, schema.maximum
    if low is not None and schema.exclusive_minimum and value <= low:
        yield Misfit(path, f"{value} is not more than {low}")
    elif low is not None and value < low:
        yield Misfit(path, f"{value} is less than {low}")
    if high is not None and schema.exclusive_maximum and value >= high:
        yield Misfit(path, f"{value} is not less than {high}")
    elif high is not None and value > high:
        yield Misfit(path, f"{value} is more than {high}")
    if schema.multiple_of is not None and value % schema.multiple_of:
        yield Misfit(path, f"{value} is no multiple of {schema.multiple_of}")
    if (limits := _WIDTHS.get(schema.format)) and not limits[0] <= value <= limits[1]:
        yield Misfit(path, f"{value} does not fit into {schema.format}")


def _check_string(schema: Schema, value: str, path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_length, schema.max_length, path, "characters")
    if schema.pattern and not re.search(schema.pattern, value):
        yield Misfit(path, f"{_show(value)} does not match {schema.pattern}")


def _check_list(schema: Schema, value: list[Any], path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_items, schema.max_items, path, "items")
    if schema.items is not None:
        for index, item in enumerate(value):
            yield from _check(schema.items, item, f"{path}[{index}]")


def _check_object(schema: Schema, value: Mapping[str, Any], path: str) -> Iterator[Misfit]:
    yield from _check_size(len(value), schema.min_properties, schema.max_properties, path, "entries")
    for name in schema.required:
        if name not in value:
            yield Misfit(path, f"{name} is missing")
    for name, item in value.items():
        child = schema.properties.get(name, schema.additional_properties)
        if child is not None:
            yield from _check(child, item, f"{path}.{name}" if path else name)
        elif not schema.preserve_unknown_fields:
            yield Misfit(path, f"there is no field {name}")


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
_WIDTHS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
