"""One sample of every API version, written once and then the user's: the shortest object that the API server takes."""

from __future__ import annotations

import math
import re
from itertools import chain, islice
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.generate.manifest import dump
from pyopscaffold.generate.witness import witnesses
from pyopscaffold.model.kinds import EnumType, FieldModel, KnownType, ListType, MapType, ScalarType, StructType
from pyopscaffold.model.schema import field_schema
from pyopscaffold.schema import UNSET, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.model.kinds import KindModel, ProjectModel, TypeModel
    from pyopscaffold.model.project import Project
    from pyopscaffold.schema import Schema

FOLDER = "config/samples"

_MANY = 100

_TEXTS = {"datetime": "2026-01-31T12:00:00Z", "duration": "5m0s", "bytes": "ZXhhbXBsZQ=="}
_FORMATS = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "byte": "ZXhhbXBsZQ==",
    "uuid": "0b6e4f5c-5d1c-4b8e-9a57-2f6f0c1d7a10",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "cidr": "192.0.2.0/24",
    "email": "somebody@example.com",
    "hostname": "www.example.com",
    "uri": "https://www.example.com/",
}


def artefacts(model: ProjectModel, project: Project) -> tuple[Artefact, ...]:
    """Return the sample of every kind in every served version."""
    return tuple(
        Artefact(path_of(kind, project), sample(kind, project), owner=Owner.USER) for kind in model.kinds if kind.served
    )


def path_of(kind: KindModel, project: Project) -> str:
    """Return where a sample is, as kubebuilder names it: ``config/samples/db_v1_mydatabase.yaml``."""
    parts = (project.short_group(kind.gvk.group), kind.gvk.version, kind.gvk.kind.lower())
    return f"{FOLDER}/{'_'.join(filter(None, parts))}.yaml"


def sample(kind: KindModel, project: Project) -> str:
    """Return a sample as text: what is required filled in, what is optional and documented as comments."""
    head = {
        "apiVersion": kind.gvk.api_version,
        "kind": kind.gvk.kind,
        "metadata": {
            "labels": {"app.kubernetes.io/managed-by": "kustomize", "app.kubernetes.io/name": project.name},
            "name": f"{kind.gvk.kind.lower()}-sample",
        },
    }
    lines = [f"# One {kind.gvk.kind} to try the operator with; change it as you like.\n", dump(head)]
    for member in kind.root.fields:
        if member.json_name == "spec" and isinstance(member.type, StructType):
            lines += _spec(member.type)
        elif member.json_name != "status" and member.required:
            lines.append(dump({member.json_name: value_of(member)}))
    return "".join(lines)


def _spec(spec: StructType) -> Iterator[str]:
    filled = [member.name for member in spec.fields if member.required]
    # An object with comments only would be null; a field at its default changes nothing.
    filled = filled or [member.name for member in spec.fields if field_schema(member).default is not UNSET][:1]
    yield "spec:\n" if filled else "spec: {}\n"
    for member in spec.fields:
        text = dump({member.json_name: value_of(member)})
        if member.name in filled:
            yield _indented(member.description, "  # ") + _indented(text, "  ")
        elif member.description:
            yield _indented(member.description, "  # ") + _indented(text, "  # ")


def _indented(text: str, margin: str) -> str:
    return re.sub(r"[ \t]+$", "", "".join(f"{margin}{line}\n" for line in text.splitlines()), flags=re.MULTILINE)


def value_of(member: FieldModel) -> Any:
    """Return a small value that the field's schema allows, as far as one can be found."""
    schema = field_schema(member)
    if member.has_default and member.default is not None and schema.default is UNSET:
        return member.default
    return _value(member.type, schema)


def _value(model: TypeModel, schema: Schema) -> Any:  # noqa: PLR0911 - one case a type
    for given in (schema.example, schema.default):
        if given is not UNSET:
            return given
    match model:
        case EnumType(values, _):
            return values[0]
        case StructType():
            return {member.json_name: value_of(member) for member in model.fields if member.required}
        case ListType(items, _) if schema.items is not None:
            return _several(items, schema.items, schema.min_items or 0)
        case MapType(values, _) if schema.additional_properties is not None:
            inner = _several(values, schema.additional_properties, schema.min_properties or 0)
            return {f"key{number}": value for number, value in enumerate(inner, 1)}
        case ScalarType(kind):
            return _scalar(kind, schema)
        case KnownType():
            return _required(schema)
        case _:
            return {}


def _required(schema: Schema) -> Any:
    """Return what a type of Kubernetes itself demands, and no more."""
    if schema.enum:
        return schema.enum[0]
    if schema.type == "object":
        return {name: _required(schema.properties[name]) for name in schema.required}
    return [] if schema.type == "array" else _scalar(schema.type, schema)


def _several(model: TypeModel, schema: Schema, count: int) -> list[Any]:
    """Return ``count`` values, all different as far as there are so many."""
    values: list[Any] = []
    first = _value(model, schema)
    others = model.values if isinstance(model, EnumType) else islice(_others(first, schema), 4 * count)
    for value in chain([first], others):
        if len(values) < count and value not in values and not validate(schema, value):
            values.append(value)
    return values + [first] * (count - len(values))


def _others(first: Any, schema: Schema) -> Iterator[Any]:
    match first:
        case bool():
            yield not first
        case int() | float():
            step = schema.multiple_of or 1
            yield from (first + sign * number * step for number in range(1, _MANY) for sign in (1, -1))
        case str() if schema.pattern:
            yield from witnesses(schema.pattern)
        case str():
            short = [letter.rjust(schema.min_length or 0, "e") for letter in ascii_lowercase]
            yield from (
                text for pair in zip((f"{first}-{n}" for n in range(2, _MANY)), short, strict=False) for text in pair
            )
        case dict():
            for number in range(2, _MANY):
                yield {name: f"{item}-{number}" if isinstance(item, str) else item for name, item in first.items()}


def _scalar(kind: str, schema: Schema) -> Any:
    if kind in _TEXTS:
        return _TEXTS[kind]
    if schema.int_or_string or kind == "string":
        return next((text for text in _texts(schema) if not validate(schema, text)), "example")
    if kind in {"integer", "number"}:
        return _number(schema)
    return False if kind == "boolean" else {}


def _texts(schema: Schema) -> Iterator[Any]:
    if schema.int_or_string:
        yield from ("10Gi", 1)
    if schema.format in _FORMATS:
        yield _FORMATS[schema.format]
    low, high = schema.min_length or 0, schema.max_length
    yield "example".ljust(low, "e")[:high]
    yield from witnesses(schema.pattern)


def _number(schema: Schema) -> float:
    step = schema.multiple_of or 1
    low, high = schema.minimum, schema.maximum
    if low is not None:
        start = math.ceil(low / step) * step
        return start + step if schema.exclusive_minimum and start <= low else start
    if high is not None and high <= step:
        end = math.floor(high / step) * step
        return end - step if schema.exclusive_maximum and end >= high else end
    return step
