"""UX07: printer columns, scale paths and selectable fields are well-formed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.fieldpath import BadPath, resolve
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Crd, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_SCALE = (
    ("specReplicasPath", (".spec.",)),
    ("statusReplicasPath", (".status.",)),
    ("labelSelectorPath", (".spec.", ".status.")),
)
_MOST_FIELDS = 8


def check(version: Version) -> Iterator[Hit]:
    """Report what the server refuses of the three."""
    for index, column in enumerate(listing(version.data.get("additionalPrinterColumns"))):
        yield from _column((*version.path, "additionalPrinterColumns", index), mapping(column))
    yield from _scale(version)
    yield from _selectable(version)


def _column(path: tuple[str | int, ...], column: dict[str, Any]) -> Iterator[Hit]:
    name = f"column {text(column.get('name')) or int(path[-1]) + 1}"
    if not column.get("name"):
        yield Hit((*path, "name"), f"{name} has no name")
    if column.get("type") not in _TYPES:
        given = f"type {column['type']!r}" if column.get("type") else "no type"
        yield Hit((*path, "type"), f"{name} has {given}, but must have one of {', '.join(_TYPES)}")
    if column.get("format") and column["format"] not in _FORMATS:
        yield Hit((*path, "format"), f"{name} has format {column['format']!r}, not one of {', '.join(_FORMATS)}")
    if not text(column.get("jsonPath")).startswith("."):
        given = f"jsonPath {column['jsonPath']!r}" if column.get("jsonPath") else "no jsonPath"
        yield Hit((*path, "jsonPath"), f"{name} has {given}, but must have one that starts with a dot")


def _scale(version: Version) -> Iterator[Hit]:
    scale = mapping(version.data.get("subresources")).get("scale")
    for key, starts in _SCALE if isinstance(scale, dict) else ():
        value, path = text(mapping(scale).get(key)), (*version.path, "subresources", "scale", key)
        if not value and key != "labelSelectorPath":
            yield Hit(path, f"the scale subresource has no {key}")
        elif value and not value.startswith(starts):
            yield Hit(path, f"{key} is {value!r}, but must start with {' or '.join(map(repr, starts))}")


def _selectable(version: Version) -> Iterator[Hit]:
    fields = listing(version.data.get("selectableFields"))
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(fields):
        place, given = (*version.path, "selectableFields", index, "jsonPath"), text(mapping(field).get("jsonPath"))
        if not given:
            yield Hit(place, f"selectable field {index + 1} has no jsonPath")
            continue
        try:
            steps, schema = resolve(given, version.root.schema if version.root else {}, quoted=False)
        except BadPath as fault:
            yield Hit(place, f"selectable field {given!r} is not in the schema: {fault}")
            continue
        if steps[:1] == ("metadata",):
            yield Hit(place, f"selectable field {given!r} is one of metadata, which is selectable by itself")
        if schema.get("type") not in ("string", "boolean", "integer"):
            yield Hit(place, f"selectable field {given!r} is no string, boolean or integer")
        if steps in seen:
            yield Hit(place, f"selectable field {given!r} is listed twice")
        seen.add(steps)
    if fields and (problem := _apart(version.crd)):
        yield Hit((*version.path, "selectableFields"), problem)
    if len(seen) > _MOST_FIELDS:
        yield Hit((*version.path, "selectableFields"), f"{len(seen)} selectable fields are more than {_MOST_FIELDS}")


def _apart(crd: Crd) -> str:
    """Say why the server does not find the schema for the fields: it reads what all versions have alike elsewhere."""
    schemas, fields = crd.have_same("schema"), crd.have_same("selectableFields")
    if schemas and not fields:
        return "all versions have one schema, so the server takes only the same selectable fields of all"
    if fields and not schemas:
        return "all versions have the same selectable fields, which the server takes only beside one schema of all"
    return ""


_SPEC = "spec: {type: object, properties: {size: {type: integer}, zones: {type: array, items: {type: string}}}}"


def _column_example(column: str) -> str:
    return crd(_SPEC, extra=f"additionalPrinterColumns: [{{{column}}}]")


def _scale_example(paths: str) -> str:
    return crd(
        _SPEC + "\nstatus: {type: object, properties: {size: {type: integer}}}",
        extra="subresources: {status: {}, scale: {" + paths + "}}",
    )


def _fields_example(*paths: str) -> str:
    return crd(_SPEC, extra="selectableFields: [" + ", ".join(f"{{jsonPath: {path}}}" for path in paths) + "]")


RULE = Rule(
    id="UX07",
    name="column-invalid",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="A printer column has a name, a type and a path that starts with a dot; scale paths lead into spec and "
    "status; selectable fields, at most 8, are scalars of the schema, alike in all versions as their schemas are.",
    why="The API server refuses the CRD otherwise. Whether a column's path leads to a field is not looked at by the "
    "server, but by UX04.",
    check=check,
    good=(
        _column_example("name: Size, type: integer, jsonPath: .spec.size"),
        _scale_example("specReplicasPath: .spec.size, statusReplicasPath: .status.size"),
        _fields_example(".spec.size"),
    ),
    bad=(
        _column_example("type: integer, jsonPath: .spec.size"),
        _column_example("name: Size, jsonPath: .spec.size"),
        _column_example("name: Size, type: int, jsonPath: .spec.size"),
        _column_example("name: Size, type: integer, format: int16, jsonPath: .spec.size"),
        _column_example("name: Size, type: integer"),
        _column_example("name: Size, type: integer, jsonPath: spec.size"),
        _scale_example("specReplicasPath: .spec.size"),
        _scale_example("specReplicasPath: .status.size, statusReplicasPath: .status.size"),
        _fields_example(".spec.sizes"),
        _fields_example(".spec.zones"),
        _fields_example(".spec.size", ".spec.size"),
    ),
)
