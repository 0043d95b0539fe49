"""What each marker means: to which schemas it applies, and what it does to them.

One entry a marker; controller-gen's marker of the same name is the reference for the effect. A marker that carries no
schema (``Name``, ``Doc``) has been used up when the model was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import annotated_types as bounds

from pyopscaffold.api import markers
from pyopscaffold.model import junctors, rules
from pyopscaffold.schema import Schema, regex, to_mapping, validate

Changes = dict[str, Any]

NUMBERS = frozenset({"integer", "number", "int-or-string"})
STRINGS = frozenset({"string", "int-or-string"})
LISTS = frozenset({"list"})
STRUCTS = frozenset({"struct"})
OBJECTS = STRUCTS | {"map"}
ANY = frozenset({"string", "integer", "number", "boolean", "int-or-string", "list", "map", "struct", "any"})
SCALARS = frozenset({"string", "integer", "number", "boolean", "int-or-string"})
SIZED = STRINGS | LISTS | OBJECTS

_TYPES = ("string", "integer", "number", "boolean", "array", "object")


@dataclass(frozen=True)
class Meaning:
    """``applies`` are shapes (see :func:`shape_of`); ``effect`` gives the attributes of the schema to change.

    ``misuse`` says what is wrong with the marker's own arguments, None if nothing is.
    """

    applies: frozenset[str]
    effect: Callable[[Any, Schema], Changes]
    advice: str
    misuse: Callable[[Any, Schema], str | None] = field(default=lambda _marker, _schema: None)


_WORD = 2**63
"""Sizes are below it: the API server can't read others."""


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
    return schema.having(**meaning.effect(marker, schema)), None


def _at_least(schema: Schema, value: float, *, exclusive: bool = False) -> Changes:
    """Hold both an alias's bound and a field's own: the tighter one says it all."""
    if schema.minimum is not None and (schema.minimum, schema.exclusive_minimum) >= (value, exclusive):
        return {}
    return {"minimum": value, "exclusive_minimum": exclusive}


def _at_most(schema: Schema, value: float, *, exclusive: bool = False) -> Changes:
    if schema.maximum is not None and (schema.maximum, not schema.exclusive_maximum) <= (value, not exclusive):
        return {}
    return {"maximum": value, "exclusive_maximum": exclusive}


def _besides(schema: Schema, attribute: str, value: Any) -> Changes:
    """Set an attribute, or where an alias has set it otherwise, demand both."""
    if getattr(schema, attribute) in (None, "", value):
        return {attribute: value}
    return {"all_of": (*schema.all_of, to_mapping(Schema(**{attribute: value})))}


def _size(low_or_high: str, tighter: Callable[[int, int], int]) -> Callable[[Any, Schema], Changes]:
    nouns = {"list": "items", "map": "properties", "struct": "properties"}

    def effect(marker: Any, schema: Schema) -> Changes:
        attribute = f"{low_or_high}_{nouns.get(shape_of(schema), 'length')}"
        size, present = getattr(marker, f"{low_or_high}_length"), getattr(schema, attribute)
        return {attribute: size if present is None else tighter(size, present)}

    return effect


def _retyped(schema: Schema, name: str) -> Changes:
    if name == "array" or (name == schema.type and name != "object"):
        return {}
    return vars(Schema(type=name, description=schema.description))


def _docs(marker: markers.ExternalDocs) -> dict[str, str]:
    return {"url": marker.url, **({"description": marker.description} if marker.description else {})}


def _bad_bound(attribute: str) -> Callable[[Any, Schema], str | None]:
    def misuse(marker: Any, schema: Schema) -> str | None:
        value, name = getattr(marker, attribute), type(marker).__name__
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            return f"{name}({value!r}) is no number; write a number"
        if schema.type == "integer" and value != int(value):
            return f"{name}({value!r}) is no whole number; write one, as the field is an int"
        if attribute == "multiple_of" and value <= 0:
            return f"{name}({value!r}) is not above 0; write a positive number"
        return None

    return misuse


def _bad_size(attribute: str) -> Callable[[Any, Schema], str | None]:
    def misuse(marker: Any, _schema: Schema) -> str | None:
        size = getattr(marker, attribute)
        if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < _WORD:
            return None
        return f"{type(marker).__name__}({size!r}) is no size; write 0 or more"

    return misuse


def _no_text(*attributes: str) -> Callable[[Any, Schema], str | None]:
    def misuse(marker: Any, _schema: Schema) -> str | None:
        values = (getattr(marker, attribute) for attribute in attributes)
        wrong = [value for value in values if not isinstance(value, str)]
        return f"{type(marker).__name__} has {wrong[0]!r}, no text; write one in quotes" if wrong else None

    return misuse


def _bad_values(marker: markers.OneOfValues, schema: Schema) -> str | None:
    if not marker.values:
        return 'OneOfValues() names no value; write OneOfValues("a", "b")'
    for value in marker.values:
        if misfits := validate(schema.having(enum=(), nullable=True), value):
            return f"OneOfValues: {misfits[0]}; write values of the field's type"
    return None


def _bad_type(marker: markers.SchemaType, schema: Schema) -> str | None:
    if marker.name not in _TYPES:
        return f"SchemaType({marker.name!r}) does not exist; write one of {', '.join(_TYPES)}"
    if marker.name == "array" and schema.type != "array":
        return 'SchemaType("array") says nothing of the items; write list[...]'
    return None


def _bad_pattern(marker: markers.Pattern, _schema: Schema) -> str | None:
    pattern: Any = marker.regex
    if not isinstance(pattern, str):
        return f"the pattern {pattern!r} is no text; write one in quotes"
    try:
        regex.parse(pattern)
    except regex.BadPattern as fault:
        return f"the pattern {pattern!r} is no regular expression to the API server: {fault}"
    return None


_NO_NULL = "the items of {} can't be null; remove Nullable()"


def _not_scalar(_marker: markers.ListSet, schema: Schema) -> str | None:
    items = schema.items or Schema()
    if items.nullable:
        return _NO_NULL.format("a ListSet")
    if shape_of(items) in SCALARS or items.map_type == "atomic" or items.list_type == "atomic":
        return None
    return "the items of a ListSet are scalars, or @atomic; write ListMap('key') or ListAtomic() for others"


def _not_keyed(marker: markers.ListMap, schema: Schema) -> str | None:
    items = schema.items or Schema()
    if not marker.keys or len(set(marker.keys)) < len(marker.keys):
        return "ListMap is to name each key once; write ListMap('name')"
    if shape_of(items) != "struct" or not items.properties:
        return "the items of a ListMap are dataclasses; write ListSet() for scalars"
    if items.nullable or any(items.properties[key].nullable for key in marker.keys if key in items.properties):
        return _NO_NULL.format("a ListMap, and its keys,")
    return None


def _unknown_map_type(marker: markers.MapType, _schema: Schema) -> str | None:
    known = marker.kind in {"granular", "atomic"}
    return None if known else f"MapType({marker.kind!r}) does not exist; write MapType('granular') or MapType('atomic')"


_ON_NUMBERS = "bounds are for int and float; write MinLen or MaxLen for sizes"
_ON_SIZES = "sizes are for str, list and dict; write Ge or Le for numbers"
_ON_LISTS = "it is for list[...]"
_ON_CLASSES = "it stands above a dataclass"


def _choice(marker: Any, schema: Schema) -> Changes:
    return {"rules": (*schema.rules, rules.choice(marker))}


MEANINGS: dict[type, Meaning] = {
    bounds.Ge: Meaning(NUMBERS, lambda m, schema: _at_least(schema, m.ge), _ON_NUMBERS, _bad_bound("ge")),
    bounds.Le: Meaning(NUMBERS, lambda m, schema: _at_most(schema, m.le), _ON_NUMBERS, _bad_bound("le")),
    bounds.Gt: Meaning(
        NUMBERS, lambda m, schema: _at_least(schema, m.gt, exclusive=True), _ON_NUMBERS, _bad_bound("gt")
    ),
    bounds.Lt: Meaning(
        NUMBERS, lambda m, schema: _at_most(schema, m.lt, exclusive=True), _ON_NUMBERS, _bad_bound("lt")
    ),
    bounds.MultipleOf: Meaning(
        NUMBERS,
        lambda m, schema: _besides(schema, "multiple_of", m.multiple_of),
        _ON_NUMBERS,
        _bad_bound("multiple_of"),
    ),
    bounds.MinLen: Meaning(SIZED, _size("min", max), _ON_SIZES, _bad_size("min_length")),
    bounds.MaxLen: Meaning(SIZED, _size("max", min), _ON_SIZES, _bad_size("max_length")),
    markers.Pattern: Meaning(
        STRINGS, lambda m, schema: _besides(schema, "pattern", m.regex), "patterns are for str", _bad_pattern
    ),
    markers.Format: Meaning(
        # Of an int-or-string the server takes no number as default once it has a format.
        (STRINGS | NUMBERS) - {"int-or-string"},
        lambda m, _: {"format": m.name},
        "formats are for str, int and float",
        _no_text("name"),
    ),
    markers.OneOfValues: Meaning(ANY, lambda m, _: {"enum": m.values}, "", _bad_values),
    markers.IntOrString: Meaning(
        frozenset({"string", "int-or-string", "any"}),
        lambda _m, _s: {"type": "", "format": "", "int_or_string": True, "preserve_unknown_fields": False},
        "it is for str; write int | str for what is one of them in Python too",
    ),
    markers.SchemaType: Meaning(ANY, lambda m, schema: _retyped(schema, m.name), "", _bad_type),
    markers.Schemaless: Meaning(ANY, lambda _m, _s: vars(Schema()), ""),
    markers.ListMap: Meaning(LISTS, lambda m, _: {"list_type": "map", "list_map_keys": m.keys}, _ON_LISTS, _not_keyed),
    markers.ListSet: Meaning(LISTS, lambda _m, _s: {"list_type": "set"}, _ON_LISTS, _not_scalar),
    markers.ListAtomic: Meaning(LISTS, lambda _m, _s: {"list_type": "atomic"}, _ON_LISTS),
    markers.UniqueItems: Meaning(
        frozenset(), lambda _m, _s: {}, "the API server refuses uniqueItems; write ListSet() or ListMap('key')"
    ),
    markers.MapType: Meaning(
        OBJECTS, lambda m, _: {"map_type": m.kind}, "it is for dict and dataclasses", _unknown_map_type
    ),
    markers.PreserveUnknownFields: Meaning(
        OBJECTS | {"any"}, lambda _m, _s: {"preserve_unknown_fields": True}, "it is for dict, dataclasses and Any"
    ),
    markers.EmbeddedResource: Meaning(
        STRUCTS,
        lambda _m, _s: {"embedded_resource": True},
        "it is for dataclasses and RawExtension",
    ),
    markers.KeepMetadata: Meaning(OBJECTS | LISTS, lambda _m, _s: {}, "it is for ObjectMeta, and what has one inside"),
    markers.AllOf: Meaning(
        ANY, lambda m, schema: {"all_of": (*schema.all_of, *m.schemas)}, "", junctors.misuse("AllOf")
    ),
    markers.AnyOf: Meaning(ANY, lambda m, schema: junctors.added(schema, "any_of", m), "", junctors.misuse("AnyOf")),
    markers.OneOf: Meaning(ANY, lambda m, schema: junctors.added(schema, "one_of", m), "", junctors.misuse("OneOf")),
    markers.Not: Meaning(ANY, lambda m, schema: junctors.added(schema, "not_", m), "", junctors.misuse("Not")),
    markers.CEL: Meaning(
        ANY - {"any"},
        lambda m, schema: {"rules": (*schema.rules, rules.rule_of(m))},
        "no rule can look into what has no schema",
        rules.misuse,
    ),
    markers.AtMostOneOf: Meaning(STRUCTS, _choice, _ON_CLASSES, rules.bad_choice),
    markers.ExactlyOneOf: Meaning(STRUCTS, _choice, _ON_CLASSES, rules.bad_choice),
    markers.AtLeastOneOf: Meaning(STRUCTS, _choice, _ON_CLASSES, rules.bad_choice),
    markers.Immutable: Meaning(
        ANY - {"any"},
        lambda _m, schema: {"rules": (*schema.rules, rules.UNCHANGED)},
        "no rule can look into what has no schema",
        rules.opaque,
    ),
    markers.Nullable: Meaning(ANY, lambda _m, _s: {"nullable": True}, ""),
    markers.Title: Meaning(ANY, lambda m, _: {"title": m.text}, "", _no_text("text")),
    markers.ExternalDocs: Meaning(ANY, lambda m, _: {"external_docs": _docs(m)}, "", _no_text("url", "description")),
    markers.Example: Meaning(ANY, lambda m, _: {"example": m.value}, ""),
    markers.Default: Meaning(ANY, lambda m, _: {"default": m.value}, ""),
    markers.NoSchemaDefault: Meaning(ANY, lambda _m, _s: {}, ""),
    markers.Selectable: Meaning(
        frozenset({"string", "integer", "boolean"}), lambda _m, _s: {}, "it is for str, int and bool"
    ),
    markers.Name: Meaning(ANY, lambda _m, _s: {}, ""),
    markers.Doc: Meaning(ANY, lambda m, _: {"description": m.text}, "", _no_text("text")),
}

ON_CLASSES = frozenset(
    {
        bounds.MinLen,
        bounds.MaxLen,
        markers.MapType,
        markers.PreserveUnknownFields,
        markers.EmbeddedResource,
        markers.OneOfValues,
        markers.AllOf,
        markers.AnyOf,
        markers.OneOf,
        markers.Not,
        markers.CEL,
        markers.AtMostOneOf,
        markers.ExactlyOneOf,
        markers.AtLeastOneOf,
        markers.Title,
        markers.Doc,
        markers.ExternalDocs,
    }
)
"""Markers that ``@mark`` puts on a dataclass; the others speak of one field."""

_RANKS = {
    # What the value is comes before what else is said of it.
    markers.Schemaless: -3,
    markers.SchemaType: -2,
    markers.IntOrString: -1,
    # controller-gen's order of rules.
    markers.AtMostOneOf: 1,
    markers.ExactlyOneOf: 2,
    markers.AtLeastOneOf: 3,
}


def in_order(found: Sequence[Any]) -> list[Any]:
    """Return markers in the order of their effect: as they stand, but for the few that have a rank."""
    return sorted(found, key=lambda marker: _RANKS.get(type(marker), 0))


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
