"""What no value could fit, or no server would take, although each marker on its own is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.api import markers
from pyopscaffold.schema import UNSET, Schema, validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALTERNATIVES = (
    (markers.ListMap, markers.ListSet, markers.ListAtomic),
    (markers.Default, markers.NoSchemaDefault),
)
_SIZES = (
    ("min_length", "max_length", "MinLen", "MaxLen"),
    ("min_items", "max_items", "MinLen", "MaxLen"),
    ("min_properties", "max_properties", "MinLen", "MaxLen"),
)
_LIMITS = {"int32": 2**31, "int64": 2**63}


def problems(schema: Schema, found: Sequence[Any]) -> Iterator[str]:
    """Yield what contradicts itself in a schema that has all the markers ``found``."""
    said = {type(marker) for marker in found}
    for alternatives in _ALTERNATIVES:
        names = [kind.__name__ for kind in alternatives if kind in said]
        if len(names) > 1:
            yield f"{' and '.join(names)} contradict each other; remove {'one' if len(names) == 2 else 'all but one'}"  # noqa: PLR2004
    yield from _ranges(schema)
    yield from _enum(schema)
    if schema.embedded_resource and not schema.properties and not schema.preserve_unknown_fields:
        yield "EmbeddedResource would prune every field; write PreserveUnknownFields() beside it"
    if schema.embedded_resource:
        yield from _type_meta(schema)
    if markers.Default in said:
        for misfit in validate(schema.having(default=UNSET), schema.default):
            yield f"its Default is not allowed: {misfit}; change the Default"
    if markers.Schemaless in said and not (schema.type or schema.int_or_string or schema.preserve_unknown_fields):
        yield "Schemaless leaves a value of no type; write PreserveUnknownFields() or SchemaType(...) beside it"


def _type_meta(schema: Schema) -> Iterator[str]:
    for name, type_ in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        child = schema.properties.get(name)
        if child is not None and (child.type != type_ or (name == "metadata" and not _is_plain(child))):
            says = "a string" if type_ == "string" else "ObjectMeta"
            yield f"{name} of an EmbeddedResource is {says}; change the field's type or its name"
    given = {name: child.default for name, child in schema.properties.items() if child.default is not UNSET}
    whole = Schema(type="object", embedded_resource=True, preserve_unknown_fields=True)
    for misfit in validate(whole, {"apiVersion": "v1", "kind": "Kind", **given}):
        yield f"the default of {misfit}; change it, or write = None"


def _is_plain(schema: Schema) -> bool:
    """Whether there is neither a default, save an empty one, nor a whole object in it: metadata can't have them."""
    below = (*schema.properties.values(), schema.items, schema.additional_properties)
    plain = schema.default in (UNSET, {}) and not schema.embedded_resource
    return plain and all(_is_plain(child) for child in below if child is not None)


def _ranges(schema: Schema) -> Iterator[str]:
    low, high = schema.minimum, schema.maximum
    if low is not None and high is not None and _is_empty(schema, low, high):
        more = "more than" if schema.exclusive_minimum else "at least"
        less = "less than" if schema.exclusive_maximum else "at most"
        yield f"no number is {more} {low} and {less} {high}; change one of the bounds"
    for bound in (low, high):
        # The server cuts a bound down to a whole number, of 64 bits at most.
        width = "int32" if schema.format == "int32" else "int64"
        if bound is not None and not -_LIMITS[width] <= bound < _LIMITS[width]:
            yield f"the bound {bound} does not fit into {width}; change the bound or the type"
    for lower, upper, min_len, max_len in _SIZES:
        least, most = getattr(schema, lower), getattr(schema, upper)
        if least is not None and most is not None and least > most:
            yield f"{min_len}({least}) is above {max_len}({most}); change one of them"


def _is_empty(schema: Schema, low: float, high: float) -> bool:
    if schema.type == "integer":
        return low + schema.exclusive_minimum > high - schema.exclusive_maximum
    return low > high or (low == high and (schema.exclusive_minimum or schema.exclusive_maximum))


def _enum(schema: Schema) -> Iterator[str]:
    plain = schema.having(enum=(), default=UNSET, nullable=True)
    for value in schema.enum:
        for misfit in validate(plain, value)[:1]:
            yield f"no value can be {value!r}: {misfit}; change the enum or the other marker"
