"""Random JSON values for a schema: most of them fit, and :func:`mutants` are a step away from fitting."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from pyopscaffold.schema import UNSET, Schema
from tests.unit.schema.format_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXTS = ("", "a", "b", "ab", "ba", "abc", "a\n", "é", "10.0.0.1", "x" * 20)
_FORMATTED = {name: (*fitting, *unfit) for name, fitting, unfit in CASES}
_KEYS = ("a", "b", "k-1", "metadata", "")
_TYPE_META = frozenset({"apiVersion", "kind", "metadata"})
_ANY = st.recursive(
    st.booleans() | st.integers(-5, 5) | st.sampled_from(_TEXTS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=2),
    max_leaves=4,
)


def values(schema: Schema) -> st.SearchStrategy[Any]:  # noqa: PLR0911 - one case a type
    """Draw a value that has the form of the schema, and mostly fits."""
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.int_or_string:
        return values(replace(schema, int_or_string=False, type="integer")) | _texts(schema)
    match schema.type:
        case "string":
            return _texts(schema)
        case "integer":
            return _integers(schema)
        case "number":
            return _integers(schema) | st.sampled_from((0.5, 1.5, 2.25, -0.5, 1e300)) | _integers(schema).map(float)
        case "boolean":
            return st.booleans()
        case "array":
            return _lists(schema)
        case "object":
            return _objects(schema)
        case _:
            return _ANY


def _texts(schema: Schema) -> st.SearchStrategy[str]:
    if schema.format in _FORMATTED:
        return st.sampled_from(_FORMATTED[schema.format])
    known = [text for text in _TEXTS if (schema.min_length or 0) <= len(text) <= (schema.max_length or 99)]
    return st.sampled_from(known or _TEXTS) | st.sampled_from(("10Gi", "500m"))


def _integers(schema: Schema) -> st.SearchStrategy[int]:
    low, high = schema.minimum, schema.maximum
    first = int(low) + schema.exclusive_minimum if low is not None else min(-5, int(high or 0) - 5)
    last = int(high) - schema.exclusive_maximum if high is not None else max(5, first + 5)
    factor = max(int(schema.multiple_of or 1), 1)
    return st.integers(first, max(first, last)).map(lambda number: number // factor * factor)


def _lists(schema: Schema) -> st.SearchStrategy[list[Any]]:
    least = schema.min_items or 0
    most = schema.max_items if schema.max_items is not None else least + 2
    unique = repr if schema.list_type == "set" else None
    return st.lists(
        values(schema.items or Schema()),
        min_size=min(least, 4),
        max_size=max(min(most, 4), min(least, 4)),
        unique_by=unique,
    )


def _objects(schema: Schema) -> st.SearchStrategy[dict[str, Any]]:
    if schema.additional_properties is not None:
        least = min(schema.min_properties or 0, 3)
        most = schema.max_properties if schema.max_properties is not None else least + 2
        return st.dictionaries(
            st.sampled_from(_KEYS),
            values(schema.additional_properties),
            min_size=least,
            max_size=max(least, min(most, 3)),
        )
    members = {name: values(child) for name, child in schema.properties.items()}
    if schema.embedded_resource:
        whole = {"apiVersion": st.sampled_from(("v1", "apps/v1")), "kind": st.just("Pod"), "metadata": st.just({})}
        members = {**members, **whole}
    required = {name: member for name, member in members.items() if name in schema.required or name in _TYPE_META}
    return st.fixed_dictionaries(required, optional={name: members[name] for name in members if name not in required})


def complete(schema: Schema, value: Any) -> Any:
    """Return what the API server judges in place of a value: it has defaults, and no unknown fields or nulls."""
    match value:
        case dict():
            filled = {name: child.default for name, child in schema.properties.items() if child.default is not UNSET}
            known: dict[str, Any] = {}
            for name, item in {**copy.deepcopy(filled), **value}.items():
                child = schema.properties.get(name, schema.additional_properties)
                if child is not None and item is None and not child.nullable:
                    known |= {name: copy.deepcopy(filled[name])} if name in filled else {}
                elif child is not None:
                    known[name] = complete(child, item)
                elif schema.preserve_unknown_fields or (schema.embedded_resource and name in _TYPE_META):
                    known[name] = item
            return known
        case list() if schema.items is not None:
            return [complete(schema.items, item) for item in value]
        case _:
            return value


def mutants(schema: Schema, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what was done, and the value after it: one step at one place each."""
    yield from _here(schema, value)
    match value:
        case dict():
            for name, item in value.items():
                child = schema.properties.get(name, schema.additional_properties)
                for step, changed in mutants(child, item) if child is not None else ():
                    yield f".{name}{step}", {**value, name: changed}
        case list() if schema.items is not None:
            for index, item in enumerate(value):
                for step, changed in mutants(schema.items, item):
                    yield f"[{index}]{step}", [*value[:index], changed, *value[index + 1 :]]


def _here(schema: Schema, value: Any) -> Iterator[tuple[str, Any]]:
    others = ["x", 7, 1.5, True, {}, []]
    if schema.format:
        others.remove([])  # to the server a list is a string with a format
    for other in others:
        if type(other) is not type(value):
            yield f" becomes {other!r}", other
    match value:
        case bool():
            return
        case int() | float():
            bounds = [bound for bound in (schema.minimum, schema.maximum) if bound is not None]
            near = [int(bound) + step for bound in bounds for step in (-1, 0, 1)]
            steps: list[Any] = [*near, value + 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63]
        case str():
            steps = [*_TEXTS, *_FORMATTED.get(schema.format, ()), "x" * ((schema.max_length or 0) + 1)]
        case list():
            steps = [[], value[:1], [*value, *value[:1]], [*value, *value]]
        case dict():
            steps = [*({other: value[other] for other in value if other != name} for name in value), {**value, "zz": 1}]
        case _:
            steps = []
    for changed in steps:
        yield f" becomes {changed!r}", changed
