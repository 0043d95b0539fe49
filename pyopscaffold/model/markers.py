"""What each marker means: to which schemas it applies, and what it does to them.

One entry a marker; controller-gen's marker of the same name is the reference for the effect. A marker that carries no
schema (``Name``, ``Doc``) has been used up when the model was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import annotated_types as bounds

from pyopscaffold.api import markers
from pyopscaffold.model import rules
from pyopscaffold.schema import Schema

Changes = dict[str, Any]

NUMBERS = frozenset({"integer", "number", "int-or-string"})
STRINGS = frozenset({"string", "int-or-string"})
LISTS = frozenset({"list"})
OBJECTS = frozenset({"map", "struct"})
ANY = frozenset({"string", "integer", "number", "boolean", "int-or-string", "list", "map", "struct", "any"})
SCALARS = frozenset({"string", "integer", "number", "boolean", "int-or-string"})


@dataclass(frozen=True)
class Meaning:
    """``applies`` are shapes (see :func:`shape_of`); ``effect`` gives the attributes of the schema to change.

    ``misuse`` says what is wrong with the marker's own arguments, None if nothing is.
    """

    applies: frozenset[str]
    effect: Callable[[Any, Schema], Changes]
    advice: str
    misuse: Callable[[Any, Schema], str | None] = field(default=lambda _marker, _schema: None)


def shape_of(schema: Schema) -> str:
    """Return what a schema describes, as markers tell apart: objects are structs or maps."""
    if schema.int_or_string:
        return "int-or-string"
    if schema.type == "array":
        return "list"
    if schema.type == "object":
        return "struct" if schema.additional_properties is None else "map"
    return schema.type or "any"


def apply(schema: Schema, marker: Any) -> tuple[Schema, str | None]:
    """Return the schema changed by one marker, and what is wrong with its use, None if nothing is."""
    name = type(marker).__name__
    meaning = MEANINGS.get(type(marker))
    if meaning is None:
        return schema, f"{name} has no meaning in a CRD; remove it"
    shape = shape_of(schema)
    if shape not in meaning.applies:
        return schema, f"{name} can't apply to {_SPOKEN[shape]}; {meaning.advice}"
    if (misuse := meaning.misuse(marker, schema)) is not None:
        return schema, misuse
    return replace(schema, **meaning.effect(marker, schema)), None


def _size(low_or_high: str) -> Callable[[Any, Schema], Changes]:
    nouns = {"list": "items", "map": "properties", "struct": "properties"}

    def effect(marker: Any, schema: Schema) -> Changes:
        return {f"{low_or_high}_{nouns.get(shape_of(schema), 'length')}": getattr(marker, f"{low_or_high}_length")}

    return effect


def _not_a_number(attribute: str) -> Callable[[Any, Schema], str | None]:
    def misuse(marker: Any, _schema: Schema) -> str | None:
        value = getattr(marker, attribute)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return None
        return f"{type(marker).__name__}({value!r}) is no number; write a number"

    return misuse


def _bad_pattern(marker: markers.Pattern, _schema: Schema) -> str | None:
    if re.search(r"\(\?(<?[=!]|P=|>)|\\[1-9]|[*+?}]\+", re.sub(r"\\[^1-9]|\[[^\]]*\]", "", marker.regex)):
        return f"the pattern {marker.regex!r} has look-around, back references or possessive repeats; RE2 has none"
    try:
        re.compile(marker.regex)
    except re.error as error:
        return f"the pattern {marker.regex!r} is no regular expression: {error}"
    return None


def _not_scalar(_marker: markers.ListSet, schema: Schema) -> str | None:
    items = schema.items or Schema()
    if shape_of(items) in SCALARS or items.map_type == "atomic" or items.list_type == "atomic":
        return None
    return "the items of a ListSet are scalars; write ListMap('key') or ListAtomic()"


def _not_keyed(marker: markers.ListMap, schema: Schema) -> str | None:
    if not marker.keys:
        return "ListMap() names no key; write ListMap('name')"
    if shape_of(schema.items or Schema()) != "struct":
        return "the items of a ListMap are dataclasses; write ListSet() for scalars"
    return None


def _unknown_map_type(marker: markers.MapType, _schema: Schema) -> str | None:
    known = marker.kind in {"granular", "atomic"}
    return None if known else f"MapType({marker.kind!r}) does not exist; write MapType('granular') or MapType('atomic')"


_ON_NUMBERS = "bounds are for int and float; write MinLen or MaxLen for sizes"
_ON_SIZES = "sizes are for str, list and dict; write Ge or Le for numbers"
_ON_LISTS = "it is for list[...]"

MEANINGS: dict[type, Meaning] = {
    bounds.Ge: Meaning(NUMBERS, lambda m, _: {"minimum": m.ge}, _ON_NUMBERS, _not_a_number("ge")),
    bounds.Le: Meaning(NUMBERS, lambda m, _: {"maximum": m.le}, _ON_NUMBERS, _not_a_number("le")),
    bounds.Gt: Meaning(
        NUMBERS, lambda m, _: {"minimum": m.gt, "exclusive_minimum": True}, _ON_NUMBERS, _not_a_number("gt")
    ),
    bounds.Lt: Meaning(
        NUMBERS, lambda m, _: {"maximum": m.lt, "exclusive_maximum": True}, _ON_NUMBERS, _not_a_number("lt")
    ),
    bounds.MultipleOf: Meaning(
        NUMBERS, lambda m, _: {"multiple_of": m.multiple_of}, _ON_NUMBERS, _not_a_number("multiple_of")
    ),
    bounds.MinLen: Meaning(STRINGS | LISTS | OBJECTS, _size("min"), _ON_SIZES),
    bounds.MaxLen: Meaning(STRINGS | LISTS | OBJECTS, _size("max"), _ON_SIZES),
    markers.Pattern: Meaning(STRINGS, lambda m, _: {"pattern": m.regex}, "patterns are for str", _bad_pattern),
    markers.Format: Meaning(STRINGS | NUMBERS, lambda m, _: {"format": m.name}, "formats are for str, int and float"),
    markers.IntOrString: Meaning(
        frozenset({"string", "integer", "int-or-string"}),
        lambda _m, _s: {"type": "", "format": "", "int_or_string": True},
        "it is for str and int",
    ),
    markers.ListMap: Meaning(LISTS, lambda m, _: {"list_type": "map", "list_map_keys": m.keys}, _ON_LISTS, _not_keyed),
    markers.ListSet: Meaning(LISTS, lambda _m, _s: {"list_type": "set"}, _ON_LISTS, _not_scalar),
    markers.ListAtomic: Meaning(LISTS, lambda _m, _s: {"list_type": "atomic"}, _ON_LISTS),
    markers.MapType: Meaning(
        OBJECTS, lambda m, _: {"map_type": m.kind}, "it is for dict and dataclasses", _unknown_map_type
    ),
    markers.PreserveUnknownFields: Meaning(
        OBJECTS | {"any"}, lambda _m, _s: {"preserve_unknown_fields": True}, "it is for dict, dataclasses and Any"
    ),
    markers.CEL: Meaning(
        ANY - {"any"},
        lambda m, schema: {"rules": (*schema.rules, rules.rule_of(m))},
        "no rule can look into what has no schema",
        rules.misuse,
    ),
    markers.Immutable: Meaning(
        ANY - {"any"},
        lambda _m, schema: {"rules": (*schema.rules, rules.UNCHANGED)},
        "no rule can look into what has no schema",
    ),
    markers.Nullable: Meaning(ANY, lambda _m, _s: {"nullable": True}, ""),
    markers.Title: Meaning(ANY, lambda m, _: {"title": m.text}, ""),
    markers.Example: Meaning(ANY, lambda m, _: {"example": m.value}, ""),
    markers.Default: Meaning(ANY, lambda m, _: {"default": m.value}, ""),
    markers.NoSchemaDefault: Meaning(ANY, lambda _m, _s: {}, ""),
    markers.Name: Meaning(ANY, lambda _m, _s: {}, ""),
    markers.Doc: Meaning(ANY, lambda _m, _s: {}, ""),
}

_SPOKEN = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "int-or-string": "an int-or-string",
    "list": "a list",
    "map": "a dict",
    "struct": "a dataclass",
    "any": "Any",
}
