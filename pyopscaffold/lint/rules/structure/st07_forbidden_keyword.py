"""ST07: the schema has only keywords that a CRD may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.names import nearest
from pyopscaffold.lint import shape
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Subschema, Version, field_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_INSTEAD = {
    "$ref": "spell out what it refers to",
    "definitions": "spell them out where they are used",
    "patternProperties": "use additionalProperties, and a CEL rule over the keys",
    "additionalItems": "use items",
    "dependencies": "use a CEL rule",
    "id": "leave it out",
    "$schema": "leave it out",
}
_PRESENT = frozenset({"$ref", "dependencies", "additionalItems"})
"""Keywords that an empty value does not turn off."""


def check(version: Version) -> Iterator[Hit]:
    """Report each keyword that the server does not know, or knows and refuses."""
    if version.root is None:
        return
    for fault in version.faults:
        if fault.unknown:
            near = nearest(str(fault.path[-1]), shape.KEYWORDS)
            hint = f"; did you mean {near}?" if near else ""
            where = field_at(fault.path)
            message = f"{where or 'the root'} has the keyword {fault.path[-1]!r}, which CRDs do not have{hint}"
            severity = Severity.WARNING if fault.silent else None
            yield Hit((*version.root.path, *fault.path), message, where, severity=severity)
    for part in version.subschemas:
        yield from _keywords(part)
        yield from _values(part)


def _keywords(part: Subschema) -> Iterator[Hit]:
    where = part.node.field or "the root"
    for keyword in part.schema.keys() & _INSTEAD.keys():
        value = part.schema[keyword]
        if value or (value is not None and keyword in _PRESENT):
            yield _hit(part, keyword, f"{where} has {keyword}, which CRDs can't have: {_INSTEAD[keyword]}")
    if part.schema.get("uniqueItems") is True:
        fix = Fix((Edit((*part.path, "uniqueItems"), remove=True), _as_set(part)))
        message = f"{where} has uniqueItems, which takes too long to check: use x-kubernetes-list-type set"
        yield _hit(part, "uniqueItems", message, fix if _can_be_set(part) else None)
    values = part.schema.get("additionalProperties")
    if part.schema.get("properties") and values is not None and values is not True:
        yield _hit(part, "additionalProperties", f"{where} has both properties and additionalProperties")


def _values(part: Subschema) -> Iterator[Hit]:
    where, kind = part.node.field or "the root", part.schema.get("type")
    if kind and isinstance(kind, str) and kind not in _TYPES:
        instead = "use nullable" if kind == "null" else f"it must be one of {', '.join(_TYPES)}"
        yield _hit(part, "type", f"{where} is of type {kind!r}: {instead}")
    if part.schema.get("x-kubernetes-preserve-unknown-fields") is False:
        keyword = "x-kubernetes-preserve-unknown-fields"
        fix = Fix((Edit((*part.path, keyword), remove=True),))
        yield _hit(part, keyword, f"{keyword} of {where} can only be true; leave it out", fix)
    if isinstance(part.schema.get("items"), list) and part.schema["items"]:
        yield _hit(part, "items", f"items of {where} must be one schema, not a list")


def _can_be_set(part: Subschema) -> bool:
    items: Any = part.schema.get("items")
    kind = items.get("type") if isinstance(items, dict) else None
    is_scalar = kind in ("boolean", "integer", "number", "string") and not items.get("nullable")
    return is_scalar and not part.is_restriction and "x-kubernetes-list-type" not in part.schema


def _as_set(part: Subschema) -> Edit:
    return Edit((*part.path, "x-kubernetes-list-type"), "set")


def _hit(part: Subschema, keyword: str, message: str, fix: Fix | None = None) -> Hit:
    return Hit((*part.path, keyword), message, part.node.field, fix=fix)


RULE = Rule(
    id="ST07",
    name="forbidden-keyword",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="The schema has no keyword that the API server refuses, such as $ref, definitions or uniqueItems, and no "
    "unknown one or unknown type.",
    why="A CRD's schema is less than JSON Schema: what can't be pruned, published or checked in linear time is "
    "refused. kubectl has unknown keywords refused, save within items and values of maps, where they are dropped in "
    "silence, and check nothing.",
    check=check,
    good=(
        spec("names: {type: array, x-kubernetes-list-type: set, items: {type: string, maxLength: 63}}"),
        spec("labels: {type: object, additionalProperties: {type: string, maxLength: 63}}"),
    ),
    bad=(
        spec("names: {type: array, uniqueItems: true, items: {type: string}}"),
        spec("a: {type: object, $ref: '#/definitions/a'}"),
        spec("a: {type: object, definitions: {b: {type: string}}}"),
        spec("a: {type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}"),
        spec("a: {type: object, patternProperties: {'^x': {type: string}}}"),
        spec("a: {type: array, items: [{type: string}]}"),
        spec("a: {type: object, x-kubernetes-preserve-unknown-fields: false}"),
        spec("a: {type: text}"),
        spec("a: {type: 'null'}"),
        spec("a: {type: string, maxlength: 3}"),
    ),
    good_class=widget(),
)
