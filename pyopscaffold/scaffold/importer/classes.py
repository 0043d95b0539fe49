"""Schemas as classes: equal objects share one, and each is named by the shortest path that leads to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.types import QUANTITY_PATTERN
from pyopscaffold.model.known import KNOWN
from pyopscaffold.scaffold.importer import markers
from pyopscaffold.scaffold.importer.expressions import (
    NONE,
    Expr,
    Name,
    OrNone,
    Prefixed,
    Union,
    Use,
    annotated,
    api,
    call,
    json_value,
    subscript,
)
from pyopscaffold.scaffold.importer.names import class_name, class_part, field_name, needs_name, singular
from pyopscaffold.schema import UNSET, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ANY = Name("Any", "typing")
_FIELD = Name("field", "dataclasses")
_INTEGERS = {"int32": api("int32"), "int64": api("int64")}
_STRINGS = {"date-time": Name("datetime", "datetime"), "byte": Name("bytes")}
_PLAIN = {"string": Name("str"), "number": Name("float"), "boolean": Name("bool")}
_PARTS = (".spec", ".status")
"""What is a dataclass of its own, however little is said of it."""
_CONDITIONS = Schema(type="array", items=KNOWN["Condition"], list_type="map", list_map_keys=("type",))


@dataclass(frozen=True)
class Place:
    """Where a schema stands: the JSON path, the name that a class there would have, and how far down it is.

    The path of a kind is "", so that its status is found: defaults are Python's only there.
    """

    path: str
    name: str
    depth: int = 0
    in_status: bool = False

    def child(self, json_name: str) -> Place:
        """Return the place of a field."""
        path, part = f"{self.path}.{json_name}", class_part(json_name) or "Field"
        return Place(path, self.name + part, self.depth + 1, self.in_status or path == ".status")

    def inner(self, suffix: str) -> Place:
        """Return the place of a list's items (``[]``) or a dict's values (``{}``)."""
        return Place(f"{self.path}{suffix}", singular(self.name), self.depth + 1, self.in_status)


@dataclass(frozen=True)
class FieldDef:
    """One field; ``use`` is the class that is its type, which may say the same as its description."""

    name: str
    json_name: str
    type: Expr
    default: Expr | None
    description: str
    use: int | None = None


@dataclass(frozen=True)
class ClassDef:
    """A class without its name and description."""

    fields: tuple[FieldDef, ...]
    decorators: tuple[Expr, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """Python names of the fields by JSON name."""
        return {item.json_name: item.name for item in self.fields}

    @property
    def is_free(self) -> bool:
        """Whether an object may be empty: no field is required."""
        return all(item.default is not None for item in self.fields)


@dataclass(frozen=True)
class _Typed:
    """A type and what stands beside it; ``said`` are attributes of the schema that the type says already."""

    expression: Expr
    markers: tuple[Expr, ...] = ()
    default: str = ""
    """How Python may have a default: ``plain`` as a literal, ``text`` as a string, ``free`` as an object that
    needs no fields, ``bare`` as one that has none, ``empty`` as a list or dict without items, ``made`` as one of
    strings and numbers; "" not at all."""
    use: int | None = None


@dataclass
class Classes:
    """The classes of one module, numbered so that those used come first.

    ``selectable`` are the JSON paths of selectable fields, ``reserved`` names that no class may have.
    """

    selectable: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()
    found: list[ClassDef] = field(default_factory=list)
    _numbers: dict[ClassDef, int] = field(default_factory=dict)
    _places: dict[int, Place] = field(default_factory=dict)
    _uses: dict[int, Counter[str]] = field(default_factory=dict)
    _made: dict[int, tuple[Schema, int]] = field(default_factory=dict)

    def add(self, schema: Schema, place: Place, description: str | None = None) -> int:
        """Return the number of the class for an object, which a use is described by ``description``."""
        made = self._made.get(id(schema))
        if made is None:
            definition = self.define(schema, place)
            number = self._numbers.setdefault(definition, len(self.found))
            if number == len(self.found):
                self.found.append(definition)
            self._made[id(schema)] = schema, number  # which keeps the id from being another's
        else:
            number = made[1]
        # Not the order of the fields decides, which is another in a cluster than in a file.
        self._places[number] = min(place, self._places.get(number, place), key=lambda item: (item.depth, item.path))
        self._uses.setdefault(number, Counter())[schema.description if description is None else description] += 1
        return number

    def define(self, schema: Schema, place: Place, *, taken: Iterable[str] = ()) -> ClassDef:
        """Return the class for an object, whose fields have other names than ``taken``."""
        names = set(taken)
        fields = tuple(self._field(schema, name, place.child(name), names) for name in schema.properties)
        python_names = {item.json_name: item.name for item in fields}
        return ClassDef(fields, tuple(markers.decorators(schema, python_names)))

    def _field(self, parent: Schema, json_name: str, place: Place, names: set[str]) -> FieldDef:
        schema, required = parent.properties[json_name], json_name in parent.required
        name = field_name(json_name, names)
        typed = self._typed(schema, place, json_name)
        beside = [markers.marker("Name", json_name)] if needs_name(name, json_name) else []
        beside += typed.markers
        if typed.use is None:
            beside += [*markers.of_rules(schema, required=required)]
        beside += markers.of_place(schema)
        if place.path in self.selectable:
            beside.append(markers.marker("Selectable"))
        default, marked = _defaults(schema, typed, required=required, in_status=place.in_status)
        kind = annotated(typed.expression, [*beside, *marked])
        if schema.nullable or default == NONE:
            kind = OrNone(kind)
        return FieldDef(name, json_name, kind, default, schema.description, typed.use)

    def _typed(self, schema: Schema, place: Place, json_name: str = "") -> _Typed:
        if schema.int_or_string:
            return _int_or_string(schema)
        match schema.type:
            case "array":
                return self._list(schema, place)
            case "object":
                return self._object(schema, place, json_name)
            case kind if kind not in _PLAIN and kind != "integer":
                return _Typed(_ANY, _beside(replace(schema, preserve_unknown_fields=False)))
            case _:
                return _scalar(schema)

    def _list(self, schema: Schema, place: Place) -> _Typed:
        if replace(schema, description="", nullable=False, default=UNSET) == _CONDITIONS:
            return _Typed(api("Conditions"))
        item, keys = self._inner(schema.items or Schema(), place.inner("[]"))
        return _Typed(subscript(Name("list"), item), _beside(schema, keys), _collection(schema.items))

    def _object(self, schema: Schema, place: Place, json_name: str) -> _Typed:
        if schema.additional_properties is not None:
            value, _ = self._inner(schema.additional_properties, place.inner("{}"))
            default = _collection(schema.additional_properties)
            return _Typed(subscript(Name("dict"), Name("str"), value), _beside(schema), default)
        if schema.preserve_unknown_fields and not schema.properties and place.path not in _PARTS:
            return _Typed(api("RawExtension"), _beside(replace(schema, preserve_unknown_fields=False)))
        if json_name == "metadata" and schema == Schema(type="object", description=schema.description):
            return _Typed(api("ObjectMeta"))
        number = self.add(schema, place)
        found = self.found[number]
        return _Typed(Use(number), default=("free" if found.fields else "bare") if found.is_free else "", use=number)

    def _inner(self, schema: Schema, place: Place) -> tuple[Expr, Mapping[str, str]]:
        """Return the type of an item or value, and the names of its fields."""
        typed = self._typed(schema, place)
        kind = typed.expression
        if typed.use is not None:
            kind = Use(typed.use, schema.description)
        beside = [*typed.markers, *(() if typed.use is not None else markers.of_rules(schema, required=True))]
        beside += markers.of_place(schema)
        if typed.use is None and schema.description:
            beside.append(markers.doc(schema.description))
        if schema.default is not UNSET:
            beside.append(markers.default(schema.default))
        return annotated(kind, beside), {} if typed.use is None else self.found[typed.use].names

    def names(self, others: Iterable[str] = ()) -> dict[int, str]:
        """Return the names of all classes, which are none of ``others``: those with a shorter path choose first."""
        taken = {*self.reserved, *others}
        order = sorted(self._places, key=lambda number: (self._places[number].depth, self._places[number].path))
        return {number: class_name(self._places[number].name, taken) for number in order}

    def description(self, number: int) -> str:
        """Return the description that a class itself may have: the most frequent one, if each place has one."""
        uses = self._uses[number]
        return "" if "" in uses else min(uses, key=lambda text: (-uses[text], text))


def _collection(inner: Schema | None) -> str:
    plain = inner is not None and inner.type in _PLAIN and not inner.enum and inner.format not in _STRINGS
    return "made" if plain else "empty"


def _beside(schema: Schema, keys: Mapping[str, str] | None = None) -> tuple[Expr, ...]:
    """Return the markers that say all of a schema but its type and rules."""
    return (*markers.of_text(schema), *markers.of_value(schema, keys))


def _int_or_string(schema: Schema) -> _Typed:
    beside = [markers.marker("Format", schema.format)] if schema.format else []
    if schema.pattern == QUANTITY_PATTERN and not schema.enum:
        return _Typed(api("Quantity"), (*beside, *_beside(replace(schema, pattern=""))), "text")
    return _Typed(Union((Name("int"), Name("str"))), (*beside, *_beside(schema)), "plain")


def _scalar(schema: Schema) -> _Typed:
    plain = Schema(type="string", format=schema.format)
    bare = replace(schema, description="", title="", nullable=False, example=UNSET)
    if schema.format in _STRINGS and bare == plain:
        return _Typed(_STRINGS[schema.format], _beside(schema))
    if _is_literal(schema):
        kind: Expr = subscript(Name("Literal", "typing"), *map(json_value, schema.enum))
        expected = "int64" if schema.type == "integer" else ""
        formats = [markers.marker("Format", schema.format)] if schema.format != expected else []
        choice = "plain" if schema.default in schema.enum else ""
        return _Typed(kind, (*formats, *_beside(replace(schema, enum=()))), choice)
    if schema.type == "integer" and schema.format in _INTEGERS:
        return _Typed(_INTEGERS[schema.format], _beside(schema), "plain")
    if schema.type == "integer":
        return _Typed(Name("int"), (markers.marker("Format", schema.format), *_beside(schema)), "plain")
    formats = [markers.marker("Format", schema.format)] if schema.format else []
    return _Typed(_PLAIN[schema.type], (*formats, *_beside(schema)), "plain")


def _is_literal(schema: Schema) -> bool:
    kind = {"string": str, "integer": int}.get(schema.type)
    values = schema.enum
    return bool(values) and len(set(values)) == len(values) and {type(value) for value in values} == {kind}


def _defaults(
    schema: Schema, typed: _Typed, *, required: bool, in_status: bool
) -> tuple[Expr | None, Iterator[Expr] | list[Expr]]:
    """Return Python's default, and the marker of the server's where Python's is not the same."""
    value = schema.default
    python: Expr | None = None if required else NONE
    if value is UNSET:
        return python, []
    if required or in_status:
        return python, [markers.default(value)]
    made = _made(value, typed)
    if made is None:
        return python, [markers.default(value)]
    # What is empty and has no fields stays out of the schema.
    return made, [markers.default(value)] if value in ([], {}) and typed.default != "free" else []


def _made(value: Any, typed: _Typed) -> Expr | None:
    """Return a JSON value as Python's default, None where it can't be one."""
    match typed.default:
        case "plain" if isinstance(value, str | int | float):
            return json_value(value)
        case "text" if isinstance(value, str):
            return json_value(value)
        case "free" | "bare" if value == {} and typed.use is not None:
            return call(_FIELD, default_factory=Use(typed.use))
        case "made" | "empty" if value in ([], {}):
            return call(_FIELD, default_factory=Name(type(value).__name__))
        case "made" if _is_plain(value):
            return call(_FIELD, default_factory=Prefixed("lambda: ", json_value(value)))
        case _:
            return None


def _is_plain(value: Any) -> bool:
    """Whether a list or dict has strings and numbers only, which are themselves in Python."""
    items = value.values() if isinstance(value, dict) else value
    return all(isinstance(item, str | int | float) for item in items)
