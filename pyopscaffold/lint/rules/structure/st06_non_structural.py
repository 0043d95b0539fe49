"""ST06: the schema is structural."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version, listing, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path

_JUNCTORS = ("allOf", "anyOf", "oneOf")
_NOT_IN_JUNCTORS = (
    "type",
    "title",
    "description",
    "default",
    "nullable",
    "additionalProperties",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
)
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def check(version: Version) -> Iterator[Hit]:
    """Report each breach; the API server stops after the first kind of them."""
    for node in version.nodes:
        yield from _types(node)
        yield from _extensions(node)
        yield from _metadata(node)
        # The server looks for what a junctor restricts but nobody declares in junctors of the root alone.
        yield from _junctors(node, node.schema, node.path, node.schema if node.parent is None else None)


def _types(node: Node) -> Iterator[Hit]:
    schema, where = node.schema, node.field or "the root"
    free = (
        schema.get("x-kubernetes-int-or-string") is True or schema.get("x-kubernetes-preserve-unknown-fields") is True
    )
    if not node.type and (not free or node.parent is None):
        yield Hit(node.path, f"{where} has no type", node.field)
    elif node.parent is None and node.type != "object":
        yield Hit((*node.path, "type"), f"the root is of type {node.type}, but must be an object", node.field)
    if node.parent is None and schema.get("additionalProperties"):
        yield Hit((*node.path, "additionalProperties"), "the root can't have additionalProperties", node.field)
    if node.type == "array" and "items" not in schema:
        yield Hit(node.path, f"{where} is an array without items", node.field)
    if isinstance(schema.get("items"), list):
        yield Hit((*node.path, "items"), f"items of {where} must be one schema, not a list", node.field)
    for name, value in node.properties.items():
        if not isinstance(value, dict):
            yield Hit((*node.path, "properties", name), f"{node.field}.{name} has no schema", f"{node.field}.{name}")


def _extensions(node: Node) -> Iterator[Hit]:
    schema = node.schema
    embedded = schema.get("x-kubernetes-embedded-resource") is True
    preserved = schema.get("x-kubernetes-preserve-unknown-fields") is True
    if schema.get("x-kubernetes-int-or-string") is True:
        for keyword, present in (("preserve-unknown-fields", preserved), ("embedded-resource", embedded)):
            if present:
                path = (*node.path, f"x-kubernetes-{keyword}")
                yield Hit(path, f"{node.field} can't be int-or-string and {keyword}", node.field)
    if not embedded:
        return
    if node.type and node.type != "object":
        yield Hit((*node.path, "type"), f"{node.field} is an embedded resource, so it must be an object", node.field)
    if not node.properties and not preserved:
        message = f"{node.field} is an embedded resource without properties, so it must preserve unknown fields"
        yield Hit(node.path, message, node.field)
    if schema.get("additionalProperties"):
        message = f"{node.field} is an embedded resource, so it can't have additionalProperties"
        yield Hit((*node.path, "additionalProperties"), message, node.field)


def _metadata(node: Node) -> Iterator[Hit]:
    if node.parent is not None and node.schema.get("x-kubernetes-embedded-resource") is not True:
        return
    for name, wanted in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        child = node.property(name)
        if child is not None and child.type and child.type != wanted:
            yield Hit((*child.path, "type"), f"{child.field} must be of type {wanted}", child.field)
    metadata = node.property("metadata") if node.parent is None else None
    if metadata is None:
        return
    for keyword, value in metadata.schema.items():
        if keyword in ("type", "default") or (
            keyword == "properties" and set(mapping(value)) <= {"name", "generateName"}
        ):
            continue
        if keyword in (*_NOT_IN_JUNCTORS, "items", "properties") and value:
            message = f"the root's metadata can only restrict name and generateName, so no {keyword}"
            yield Hit((*metadata.path, keyword), message, metadata.field)


def _junctors(node: Node, schema: dict[str, Any], path: Path, outside: Any) -> Iterator[Hit]:
    """Check what stands in logical junctors; ``outside`` is the plain schema of the same value, or None."""
    branches = [
        ((*path, keyword, index), branch)
        for keyword in _JUNCTORS
        for index, branch in enumerate(listing(schema.get(keyword)))
    ]
    if isinstance(schema.get("not"), dict):
        branches.append(((*path, "not"), schema["not"]))
    for place, branch in branches:
        if isinstance(branch, dict) and not _is_int_or_string(schema, place):
            yield from _branch(node, branch, place, outside)


def _is_int_or_string(schema: dict[str, Any], place: Path) -> bool:
    return place[-2] == "anyOf" and schema.get("anyOf") == _INT_OR_STRING


def _branch(node: Node, branch: dict[str, Any], path: Path, outside: Any) -> Iterator[Hit]:
    where = node.field or "the root"
    for keyword in _NOT_IN_JUNCTORS:
        if branch.get(keyword) or (keyword == "default" and keyword in branch):
            yield Hit((*path, keyword), f"{keyword} can't stand in a logical junctor of {where}", node.field)
    for name, value in mapping(branch.get("properties")).items():
        place, declared = (*path, "properties", name), mapping(mapping(outside).get("properties")).get(name)
        if name == "metadata":
            yield Hit(place, f"metadata can't be restricted in a logical junctor of {where}", node.field)
        elif outside is not None and declared is None:
            yield Hit(place, f"a logical junctor of {where} restricts {name!r}, which is not declared", node.field)
        if isinstance(value, dict):
            yield from _branch(node, value, place, declared)
    if isinstance(branch.get("items"), dict):
        declared = mapping(outside).get("items")
        if outside is not None and declared is None:
            yield Hit((*path, "items"), f"a logical junctor of {where} restricts undeclared items", node.field)
        yield from _branch(node, branch["items"], (*path, "items"), declared)
    yield from _junctors(node, branch, path, outside)


RULE = Rule(
    id="ST06",
    name="non-structural",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="The schema is structural: each value has a type, and junctors only restrict what is declared beside them.",
    why="The API server refuses other schemas, since it could neither prune nor default by them "
    "(https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
    "#specifying-a-structural-schema).",
    check=check,
    good=(
        spec("port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"),
        spec("any: {x-kubernetes-preserve-unknown-fields: true}"),
        spec(
            "a: {type: object, properties: {b: {type: string}}, oneOf: [{required: [b], properties: {b: {enum: [x]}}}]}"
        ),
    ),
    bad=(
        spec("a: {description: No type.}"),
        spec("a: {type: array}"),
        spec("a: {type: string, anyOf: [{type: string}]}"),
        spec("a: {type: object, properties: {b: {type: string}}, allOf: [{properties: {b: {default: x}}}]}"),
        crd("spec: {type: object}", extra="").replace(
            "        properties:", "        anyOf: [{properties: {data: {minLength: 1}}}]\n        properties:"
        ),
        spec("a: {type: object, x-kubernetes-embedded-resource: true}"),
        spec("a:"),
        crd("metadata: {type: object, properties: {labels: {type: object}}}"),
    ),
)
