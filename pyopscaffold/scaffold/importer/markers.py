"""What a schema says beyond its type, as markers: the inverse of :mod:`pyopscaffold.model.markers`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.markers import AtLeastOneOf, AtMostOneOf, ExactlyOneOf
from pyopscaffold.model import rules
from pyopscaffold.scaffold.importer.expressions import (
    Bracket,
    Expr,
    Lines,
    Literal,
    Prefixed,
    api,
    call,
    json_value,
    string,
)
from pyopscaffold.schema import UNSET, Rule, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SIZES = (
    ("min_length", "MinLen"),
    ("max_length", "MaxLen"),
    ("min_items", "MinLen"),
    ("max_items", "MaxLen"),
    ("min_properties", "MinLen"),
    ("max_properties", "MaxLen"),
)
_LISTS = {"set": "ListSet", "atomic": "ListAtomic"}
_JUNCTORS = (("all_of", "AllOf"), ("any_of", "AnyOf"), ("one_of", "OneOf"))
_CHOICES = (
    (AtLeastOneOf, "at_least_one_of", "at least one"),
    (ExactlyOneOf, "exactly_one_of", "exactly one"),
    (AtMostOneOf, "at_most_one_of", "at most one"),
)
"""Their rules stand last, in the inverse of this order (:func:`pyopscaffold.model.markers.in_order`)."""


def marker(name: str, *values: Any) -> Expr:
    """Return a marker of ``pyopscaffold.api`` with JSON values as its arguments."""
    return call(api(name), *map(json_value, values))


def of_value(schema: Schema, keys: Mapping[str, str] | None = None) -> Iterator[Expr]:
    """Yield the markers of what is said of the value; ``keys`` are Python names of an item's fields by JSON name."""
    if schema.enum:
        yield marker("OneOfValues", *schema.enum)
    yield from _of_numbers(schema)
    if schema.pattern:
        yield marker("Pattern", schema.pattern)
    for attribute, name in _SIZES:
        if (size := getattr(schema, attribute)) is not None:
            yield marker(name, size)
    if schema.list_type == "map":
        yield marker("ListMap", *((keys or {}).get(key, key) for key in schema.list_map_keys))
    elif schema.list_type:
        yield marker(_LISTS[schema.list_type])
    if schema.map_type:
        yield marker("MapType", schema.map_type)
    if schema.preserve_unknown_fields:
        yield marker("PreserveUnknownFields")
    if schema.embedded_resource:
        yield marker("EmbeddedResource")
    yield from _junctors(schema)


def _of_numbers(schema: Schema) -> Iterator[Expr]:
    if schema.minimum is not None:
        yield marker("Gt" if schema.exclusive_minimum else "Ge", schema.minimum)
    if schema.maximum is not None:
        yield marker("Lt" if schema.exclusive_maximum else "Le", schema.maximum)
    if schema.multiple_of is not None:
        yield marker("MultipleOf", schema.multiple_of)


def _junctors(schema: Schema) -> Iterator[Expr]:
    for attribute, name in _JUNCTORS:
        if found := getattr(schema, attribute):
            yield marker(name, *found)
    if schema.not_ is not None:
        yield marker("Not", schema.not_)


def of_rules(schema: Schema, *, required: bool) -> Iterator[Expr]:
    """Yield the rules of a field; an optional field that is Immutable would bring a rule of its parent's along."""
    for rule in schema.rules:
        yield marker("Immutable") if required and rule == rules.UNCHANGED else call(api("CEL"), *_arguments(rule))


def _arguments(rule: Rule) -> Iterator[Expr]:
    yield json_value(rule.rule)
    for name, value in vars(rule).items():
        if name != "rule" and value not in ("", None):
            yield Prefixed(f"{name}=", json_value(value))


def of_text(schema: Schema) -> Iterator[Expr]:
    """Yield what is only told."""
    if schema.title:
        yield marker("Title", schema.title)
    if schema.external_docs:
        yield marker(
            "ExternalDocs",
            *(schema.external_docs[key] for key in ("url", "description") if key in schema.external_docs),
        )


def of_place(schema: Schema) -> Iterator[Expr]:
    """Yield what is said of this very place, not of a class."""
    if schema.example is not UNSET:
        yield marker("Example", schema.example)
    if schema.nullable:
        yield marker("Nullable")


def decorators(schema: Schema, names: Mapping[str, str]) -> Iterator[Expr]:
    """Yield the decorators of a class with this schema; ``names`` are the Python names of its fields by JSON name."""
    atomic = schema.map_type == "atomic"
    marks = [
        *of_text(schema),
        *(found for found in of_value(schema) if not (atomic and found == marker("MapType", "atomic"))),
    ]
    if atomic:
        yield api("atomic")
    if marks:
        yield call(api("mark"), *marks)
    left, chosen = _choices(schema, names)
    for rule in left:
        yield call(api("cel"), *_arguments(rule))
    yield from chosen


def _choices(schema: Schema, names: Mapping[str, str]) -> tuple[list[Rule], list[Expr]]:
    """Split off the last rules, as far as they are what a decorator for choices writes."""
    left, found = list(schema.rules), list[Expr]()
    for kind, decorator, words in _CHOICES:
        while left and (
            match := re.fullmatch(rf"{words} of the fields in \[(.+)\] (may|must) be set", left[-1].message)
        ):
            fields = tuple(match[1].split(" "))
            free = all(
                name in names and name not in schema.required and schema.properties[name].default is UNSET
                for name in fields
            )
            if not free or rules.choice(kind(fields)) != left[-1]:
                return left, found
            left.pop()
            found.insert(0, call(api(decorator), *(Literal(string(names[name])) for name in fields)))
    return left, found


def default(value: Any) -> Expr:
    """Return the marker of a default that is not Python's own."""
    return marker("Default", value)


def doc(text: str) -> Bracket:
    """Return the marker of a description that can't be a docstring."""
    return call(api("Doc"), Lines(text))
