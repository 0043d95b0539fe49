"""Types and fields as structural schemas, the same that controller-gen gives for an equivalent Go type.

Defaults go into the schema of the spec; in the status they are Python's only, save that of the status itself and those
by ``Default``. An empty list or dict as default stays out: to a reader it is the same as absence, and it would only
clutter every object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.api.markers import Default, Immutable, KeepMetadata, NoSchemaDefault
from pyopscaffold.model import contradictions, rules
from pyopscaffold.model.kinds import (
    EnumType,
    FieldModel,
    KindModel,
    KnownType,
    ListType,
    MapType,
    ScalarType,
    StructType,
    TypeModel,
)
from pyopscaffold.model.known import KNOWN, schema_of
from pyopscaffold.model.markers import apply, in_order
from pyopscaffold.schema import UNSET, Schema, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOT_YET_OBSERVED = {"observedGeneration": -1}
"""Default of a status: whoever waits for an object sees that no controller has looked at it (kstatus, DESIGN §7)."""

_SCALARS = {
    "string": Schema(type="string"),
    "integer": Schema(type="integer", format="int64"),
    "number": Schema(type="number"),
    "boolean": Schema(type="boolean"),
    "datetime": Schema(type="string", format="date-time"),
    "duration": Schema(type="string"),
    "bytes": Schema(type="string", format="byte"),
    "int-or-string": Schema(int_or_string=True),
    "any": Schema(preserve_unknown_fields=True),
    "unread": Schema(type="string"),
}


def kind_schema(kind: KindModel) -> Schema:
    """Return the schema of whole objects of a kind, with apiVersion, kind and metadata."""
    root = struct_schema(kind.root)
    properties = {**KNOWN["TypeMeta"].properties, **root.properties}
    if "status" in properties:
        properties["status"] = _status(properties["status"], kind)
    return root.having(properties=properties)


def _status(schema: Schema, kind: KindModel) -> Schema:
    status = kind.status
    if status is None or all(field.json_name != "observedGeneration" for field in status.fields):
        return schema
    said = (marker for field in kind.root.fields if field.json_name == "status" for marker in field.markers)
    if any(isinstance(marker, Default | NoSchemaDefault) for marker in said):
        return schema
    # A status with required fields can't start like this: the API server would refuse the default.
    return schema if validate(schema, NOT_YET_OBSERVED) else schema.having(default=NOT_YET_OBSERVED)


def struct_schema(struct: StructType) -> Schema:
    """Return the schema of a kind's own class; below ``status``, defaults are not the server's."""
    members = {field.json_name: field_schema(field, defaults=field.json_name != "status") for field in struct.fields}
    return _object(struct, members)


def field_schema(field: FieldModel, *, defaults: bool = True, keep_metadata: bool = False) -> Schema:
    """Return the schema of one field.

    ``defaults`` says whether Python's defaults become the server's, ``keep_metadata`` whether a marker further out
    keeps embedded metadata.
    """
    # Checks, CRD and samples all ask for it. A field never changes, so its schemas stay with it: to hash it takes long.
    kept: dict[tuple[bool, bool], Schema] = vars(field).setdefault("_schemas", {})
    if (key := (defaults, keep_metadata)) not in kept:
        kept[key] = _field_schema(field, defaults=defaults, keep_metadata=keep_metadata)
    return kept[key]


def _field_schema(field: FieldModel, *, defaults: bool, keep_metadata: bool) -> Schema:
    said = {type(marker) for marker in field.markers}
    keep_metadata = keep_metadata or KeepMetadata in said
    schema = _marked(type_schema(field.type, defaults=defaults, keep_metadata=keep_metadata), field.markers)
    if field.description:
        schema = schema.having(description=field.description)
    if Default in said:
        return schema
    if not defaults or NoSchemaDefault in said:
        return schema.having(default=UNSET)
    if not field.has_default or field.default is None or _empty_collection(schema, field.default):
        return schema
    return schema.having(default=without_defaults(field.default, schema))


def type_schema(model: TypeModel, *, defaults: bool = True, keep_metadata: bool = False) -> Schema:
    """Return the schema of a type, before the markers of the field that has it."""

    def inner(item: TypeModel, markers: tuple[Any, ...]) -> Schema:
        keep = keep_metadata or any(isinstance(marker, KeepMetadata) for marker in markers)
        return _marked(type_schema(item, defaults=defaults, keep_metadata=keep), markers)

    match model:
        case ScalarType(kind):
            return _SCALARS[kind]
        case EnumType(values, description):
            plain = _SCALARS["string" if isinstance(values[0], str) else "integer"]
            return plain.having(enum=values, description=description)
        case ListType(items, markers):
            return Schema(type="array", items=inner(items, markers))
        case MapType(values, markers):
            return Schema(type="object", additional_properties=inner(values, markers))
        case KnownType(name):
            return schema_of(name, keep_metadata=keep_metadata)
        case StructType():
            members = {
                field.json_name: field_schema(field, defaults=defaults, keep_metadata=keep_metadata)
                for field in model.fields
            }
            return _object(model, members)


def without_defaults(value: Any, schema: Schema) -> Any:
    """Return ``value`` less what the schema's own defaults put back: a nested ``default: {}`` is enough then."""
    if not isinstance(value, dict) or not schema.properties:
        return value
    kept = {}
    for name, item in value.items():
        child = schema.properties.get(name, Schema())
        reduced = without_defaults(item, child)
        if schema.embedded_resource and name in {"apiVersion", "kind"}:
            kept[name] = reduced  # the server looks for them before it fills in defaults
            continue
        if reduced == child.default and type(reduced) is type(child.default):
            continue
        if child.default is UNSET and name not in schema.required and _empty_collection(child, reduced):
            continue
        kept[name] = reduced
    return kept


def marker_problems(model: TypeModel, markers: tuple[Any, ...]) -> Iterator[str]:
    """Yield what is wrong with the markers of a field or item of this type, its own items included."""
    if isinstance(model, ListType):
        yield from marker_problems(model.items, model.markers)
    if isinstance(model, MapType):
        yield from marker_problems(model.values, model.markers)
    problems: list[str] = []
    kept = any(isinstance(marker, KeepMetadata) for marker in markers)
    schema = _marked(type_schema(model, keep_metadata=kept), markers, problems.append)
    yield from problems
    if markers and not problems:
        yield from contradictions.problems(schema, markers)


def _marked(schema: Schema, markers: tuple[Any, ...], report: Callable[[str], object] = lambda _: None) -> Schema:
    for marker in in_order(markers):
        schema, problem = apply(schema, marker)
        if problem is not None:
            report(problem)
    return schema


def _object(struct: StructType, members: dict[str, Schema]) -> Schema:
    required = tuple(sorted(field.json_name for field in struct.fields if field.required))
    optional = (field for field in struct.fields if not field.required)
    kept = tuple(rules.kept(field.json_name) for field in optional if _is_immutable(field))
    schema = Schema(type="object", description=struct.description, properties=members, required=required, rules=kept)
    return _marked(schema, struct.markers)


def _is_immutable(field: FieldModel) -> bool:
    return any(isinstance(marker, Immutable) for marker in field.markers)


def _empty_collection(schema: Schema, value: Any) -> bool:
    return value in ([], {}) and not schema.properties
