"""ST06: the schema is structural."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import listing, mapping
from pyopscaffold.lint.example import crd, spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Subschema, Version, field_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.document.reader import Path

_JUNCTORS = ("allOf", "anyOf", "oneOf")
_NEVER_RESTRICTED = (
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
_ANY_VALUE = ("default", "example", "additionalProperties")
_NEVER = ("patternProperties", "definitions")
"""Keywords that ST07 tells of, if they are not empty."""
_NOTHING_IF_EMPTY = frozenset(
    (
        *("type", "format", "title", "description", "pattern", "id", "$schema"),
        *("enum", "allOf", "anyOf", "oneOf", *_NEVER),
    )
)
_NOT_BESIDE_STATUS = (
    *("default", "enum", "maxProperties", "minProperties", "allOf", "anyOf", "oneOf", "not"),
    *("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", *_NEVER),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"),
)
_TYPE_META = (("apiVersion", "string"), ("kind", "string"), ("metadata", "object"))


def check(version: Version) -> Iterator[Hit]:
    """Report each breach; the API server stops after the first kind of them."""
    if version.root is None:
        return
    yield from _unreadable(version, version.root)
    yield from _root(version, version.root)
    for node in version.nodes:
        yield from _types(node)
        yield from _extensions(node)
        if node.parent is None or node.schema.get("x-kubernetes-embedded-resource") is True:
            yield from _type_meta(node)
    for part in version.subschemas:
        if part.is_restriction:
            yield from _restriction(part)
    # The server looks for what is restricted but not declared in the junctors of the root alone.
    yield from _undeclared(version.root)


def _unreadable(version: Version, root: Node) -> Iterator[Hit]:
    for fault in version.faults:
        if not fault.unknown:
            field = field_at(fault.path)
            keyword = next(step for step in reversed(fault.path) if isinstance(step, str))
            yield Hit((*root.path, *fault.path), f"{keyword} of {field or 'the root'}: {fault.message}", field)


def _root(version: Version, root: Node) -> Iterator[Hit]:
    schema = root.schema
    if root.type not in ("", "object"):
        yield Hit((*root.path, "type"), f"the root is of type {root.type}, but must be an object")
    if schema.get("nullable") is True:
        yield Hit((*root.path, "nullable"), "the root can't be nullable")
    if schema.get("additionalProperties") is not None:
        yield Hit((*root.path, "additionalProperties"), "the root can't have additionalProperties")
    if version.has_status_subresource:
        for keyword in _NOT_BESIDE_STATUS:
            value = schema.get(keyword)
            is_unset = value is None or (value is False and keyword != "default")
            if not is_unset and not (value and keyword in _NEVER):
                message = f"the root can't have {keyword} where the status subresource is enabled"
                yield Hit((*root.path, keyword), message)


def _types(node: Node) -> Iterator[Hit]:
    schema, where = node.schema, node.field or "the root"
    is_embedded = schema.get("x-kubernetes-embedded-resource") is True
    int_or_string, free = (schema.get(f"x-kubernetes-{key}") for key in ("int-or-string", "preserve-unknown-fields"))
    if is_embedded and node.type != "object" and (node.type or _has_no_type(schema)):
        message = f"{where} is an embedded resource, so it must be of type object"
        yield Hit((*node.path, "type"), message, node.field)
    elif _has_no_type(schema) and int_or_string is not True and free is not True:
        yield Hit((*node.path, "type"), f"{where} has no type", node.field)
    items = schema.get("items")
    if node.type == "array" and not isinstance(items, dict) and not (items and isinstance(items, list)):
        yield Hit((*node.path, "items"), f"{where} is an array without items", node.field)
    for name, value in node.properties.items():
        if value is None:
            path = (*node.path, "properties", name, "type")
            yield Hit(path, f"{node.field}.{name} has no schema", f"{node.field}.{name}")


def _has_no_type(schema: dict[str, Any]) -> bool:
    return schema.get("type") in (None, "")


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
    if outer := _resource_meta(node):
        message = f"{node.field} is an embedded resource, which can't stand within {outer}"
        yield Hit((*node.path, "x-kubernetes-embedded-resource"), message, node.field)
    if not node.properties and not preserved:
        message = f"{node.field} is an embedded resource without properties, so it must preserve unknown fields"
        yield Hit((*node.path, "properties"), message, node.field)
    if schema.get("additionalProperties") is not None:
        message = f"{node.field} is an embedded resource, so it can't have additionalProperties"
        yield Hit((*node.path, "additionalProperties"), message, node.field)


def _resource_meta(node: Node) -> str:
    """Give the apiVersion, kind or metadata of a resource that the node stands in, or ""."""
    names = [name for name, _ in _TYPE_META]
    while node.parent is not None:
        is_resource = node.parent.parent is None or node.parent.schema.get("x-kubernetes-embedded-resource") is True
        if is_resource and node.name in names:
            return node.field
        node = node.parent
    return ""


def _type_meta(node: Node) -> Iterator[Hit]:
    for name, wanted in _TYPE_META:
        child = node.property(name)
        if child is not None and child.type != wanted:
            yield Hit((*child.path, "type"), f"{child.field} must be of type {wanted}", child.field)
    metadata = node.property("metadata") if node.parent is None else None
    for keyword, value in metadata.schema.items() if metadata else ():
        is_name = keyword == "properties" and set(mapping(value)) <= {"name", "generateName"}
        if is_name or keyword in ("type", "default") or _says_nothing(keyword, value):
            continue
        path = (*node.path, "properties", "metadata", keyword)
        yield Hit(path, f"the root's metadata can only restrict name and generateName, so no {keyword}", ".metadata")


def _restriction(part: Subschema) -> Iterator[Hit]:
    """Check a schema in a junctor for what only a node itself may say."""
    where, field = part.node.field or "the root", part.node.field
    for keyword in _NEVER_RESTRICTED:
        value = part.schema.get(keyword)
        is_open = keyword == "additionalProperties" and value is False
        if is_open or (value == [] and keyword != "default") or _says_nothing(keyword, value):
            continue
        if not (keyword == "type" and _is_alternative(part)):
            yield Hit((*part.path, keyword), f"{keyword} can't stand in a logical junctor of {where}", field)
    if "metadata" in mapping(part.schema.get("properties")):
        path = (*part.path, "properties", "metadata")
        yield Hit(path, f"metadata can't be restricted in a logical junctor of {where}", field)


def _is_alternative(part: Subschema) -> bool:
    """Whether this is the integer or the string of the two forms in which "an integer or a string" may be written."""
    schema, step = part.node.schema, part.path[len(part.node.path) :]
    if step[:2] == ("allOf", 0):
        schema, step = schema["allOf"][0], step[2:]
    return len(step) == 2 and step[0] == "anyOf" and _are_alternatives(schema["anyOf"])  # noqa: PLR2004 - keyword, index


def _are_alternatives(branches: list[Any]) -> bool:
    said = [{key: value for key, value in mapping(one).items() if not _says_nothing(key, value)} for one in branches]
    return said == [{"type": "integer"}, {"type": "string"}]


def _says_nothing(keyword: str, value: Any) -> bool:
    """Whether the server makes nothing of a keyword; other empty values are values to it."""
    if value is None or value is False:
        return value is None or keyword not in _ANY_VALUE
    if keyword == "items":
        return not isinstance(value, dict)
    return value in ("", [], {}) and keyword in _NOTHING_IF_EMPTY


def _undeclared(root: Node) -> Iterator[Hit]:
    """Check the junctors of the root; with each pending schema goes the plain schema of the same value."""
    pending: list[tuple[Path, Any, Any]] = [(root.path, root.schema, root.schema)]
    while pending:
        path, schema, outside = pending.pop()
        if not isinstance(schema, dict):
            continue
        if not isinstance(outside, dict):
            yield Hit(path, f"a logical junctor of the root restricts {path[-1]!r}, which is not declared")
            continue
        if path != root.path:
            declared = mapping(outside.get("properties"))
            inner = mapping(schema.get("properties")).items()
            pending += [((*path, "properties", name), part, declared.get(name)) for name, part in inner]
            pending.append(((*path, "items"), schema.get("items"), outside.get("items")))
        branches = [((*path, key, at), one) for key in _JUNCTORS for at, one in enumerate(listing(schema.get(key)))]
        pending += [(place, branch, outside) for place, branch in (*branches, ((*path, "not"), schema.get("not")))]


_WHOLE = crd("spec: {type: object}")


def _with_status(keyword: str) -> str:
    return _WHOLE.replace("        type: object\n", f"        type: object\n        {keyword}\n", 1)


RULE = Rule(
    id="ST06",
    name="non-structural",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="The schema is structural: each value has a type, and junctors only restrict what is declared beside them.",
    why="The API server refuses other schemas, since it could neither prune nor default by them "
    "(https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/"
    "#specifying-a-structural-schema). The root is an object, of whose metadata only the name can be restricted; "
    "beside a status subresource it has no junctors, since the status is validated by itself.",
    check=check,
    good=(
        spec("port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}"),
        spec(
            "port: {x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, "
            "{anyOf: [{minimum: 1}, {minLength: 1}]}]}"
        ),
        spec("any: {x-kubernetes-preserve-unknown-fields: true}"),
        spec("job: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"),
        spec(
            "a: {type: object, properties: {b: {type: string}}, oneOf: [{required: [b], properties: {b: {enum: [x]}}}]}"
        ),
        crd("metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}"),
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
        spec("a: {type: object, properties: []}"),
        spec("a: {type: object, required: b}"),
        spec("a: {x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true}"),
        crd("metadata: {type: object, properties: {labels: {type: object}}}"),
        crd("kind: {type: integer}"),
        _with_status("nullable: true"),
        _with_status("oneOf: [{required: [spec]}]"),
        _WHOLE.replace("        type: object\n", "        type: string\n", 1),
    ),
    good_class=widget(),
)
