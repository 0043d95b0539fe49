"""CRDs with something changed at random: keywords taken away, added, exchanged, moved, or of the wrong type."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from random import Random

_CHANGES: Final = (1, 1, 1, 2, 3)
_ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    "",
    "a",
    [],
    ["a"],
    [1],
    [None],
    {},
    {"a": 1},
    {"a": {}},
)
_SCHEMAS: Final[tuple[Any, ...]] = (
    {},
    {"type": "string"},
    {"type": "integer", "default": 1},
    {"type": "string", "default": 1},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"a": {"type": "string", "default": "a"}}, "required": ["a"]},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    {"x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
    {"required": ["a"]},
    {"minLength": 1},
    {"enum": ["a"]},
)
_RULES: Final[tuple[Any, ...]] = (
    {"rule": "true"},
    {"rule": "self == oldSelf"},
    {"rule": "oldSelf.hasValue()", "optionalOldSelf": True},
    {"rule": "true", "optionalOldSelf": True},
    {"rule": "self.("},
    {"rule": ""},
    {"rule": "true", "message": "a\nb"},
    {"rule": "true", "messageExpression": "'a"},
    {"rule": "true", "reason": "Wrong"},
    {"rule": "true", "fieldPath": ".a"},
    {"rule": "true", "fieldPath": ".spec"},
)
_LIST_TYPES: Final = ("atomic", "set", "map", "bag", "")
_COLUMNS: Final = (
    {"name": "A", "type": "string", "jsonPath": ".spec"},
    {"name": "", "type": "text", "jsonPath": "spec", "format": "int16"},
    {"name": "A", "type": "date", "format": "date", "jsonPath": "."},
)
_BOUNDS: Final = (0, 1, 2.0, -1, 100)

_KEYWORDS: Final[dict[str, tuple[Any, ...]]] = {
    "type": ("string", "integer", "number", "boolean", "array", "object", "null", "text", ""),
    "format": ("int32", "int64", "date-time", "date", "double", "byte", "k8s-short-name", "unheard-of", "uuid"),
    "title": ("", "a"),
    "description": ("", "a"),
    "default": ("a", "", 1, 0, -1, 0.5, True, False, [], ["a"], [1], {}, {"a": "a"}, {"a": 1}, {"kind": "A"}, None),
    "example": ("a", {}),
    "nullable": (True, False),
    "pattern": ("^a$", "(?=a)", "a{1001}", "[", ""),
    "enum": ([], ["a"], [1], [None], ["a", "a"]),
    "required": ([], ["a"], ["a", "b"]),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), _BOUNDS),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _BOUNDS),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum", "uniqueItems"), (True, False)),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), tuple([schema] for schema in _SCHEMAS)),
    "not": _SCHEMAS,
    "items": (*_SCHEMAS, [], [{"type": "string"}], True),
    "properties": ({}, *({"a": schema} for schema in _SCHEMAS), {"metadata": {"type": "object"}}, {"kind": {}}),
    "additionalProperties": (*_SCHEMAS, True, False),
    "patternProperties": ({}, {"a": {"type": "string"}}),
    "additionalItems": (True, {"type": "string"}),
    "definitions": ({}, {"a": {"type": "string"}}),
    "dependencies": ({}, {"a": ["b"]}),
    "externalDocs": ({"url": "a"}, {"description": "a"}),
    "$ref": ("", "a"),
    "$schema": ("", "a"),
    "id": ("", "a"),
    "x-kubernetes-preserve-unknown-fields": (True, False),
    "x-kubernetes-embedded-resource": (True, False),
    "x-kubernetes-int-or-string": (True, False),
    "x-kubernetes-list-type": _LIST_TYPES,
    "x-kubernetes-map-type": ("atomic", "granular", "whole"),
    "x-kubernetes-list-map-keys": ([], ["a"], ["a", "a"], ["a", "b"]),
    "x-kubernetes-validations": tuple([rule] for rule in _RULES),
    "const": ("a",),
}
_OF_A_CRD: Final[dict[str, tuple[Any, ...]]] = {
    "group": ("example", "a.k8s.io", "Example.com", ""),
    "scope": ("Cluster", "cluster", ""),
    "plural": ("a", "A", "", "a.b"),
    "singular": ("a", "A_", ""),
    "kind": ("A", "a", "3A", ""),
    "listKind": ("A", "AList", "_"),
    "shortNames": (["a"], ["A"], [""]),
    "categories": (["a"], ["A"]),
    "name": ("v1", "v2", "V1", ""),
    "served": (True, False),
    "storage": (True, False),
    "deprecated": (True, False),
    "deprecationWarning": ("", "a", "a" * 257, "a\tb"),
    "preserveUnknownFields": (True, False),
    "strategy": ("None", "Webhook", "Hook", ""),
    "webhook": ({}, {"conversionReviewVersions": ["v1"]}, {"clientConfig": {}}),
    "conversion": (
        {},
        {"strategy": "None"},
        {"strategy": "Webhook"},
        {
            "strategy": "Webhook",
            "webhook": {"clientConfig": {"url": "https://a.b"}, "conversionReviewVersions": ["v1"]},
        },
        {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {}}, "conversionReviewVersions": ["v1", "v1"]}},
        {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "a"}, "conversionReviewVersions": ["v2"]}},
    ),
    "additionalPrinterColumns": tuple([column] for column in _COLUMNS),
    "scale": (
        {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"},
        {"specReplicasPath": ".a", "statusReplicasPath": "status.a", "labelSelectorPath": "."},
    ),
    "status": ({}, None),
    "subresources": ({}, {"status": {}}, {"scale": {}}),
    "selectableFields": (
        [],
        [{"jsonPath": ".spec.a"}],
        [{"jsonPath": ".metadata.name"}],
        [{"jsonPath": "spec"}, {"jsonPath": ""}],
    ),
    "schema": ({}, None, {"openAPIV3Schema": {"type": "object"}}),
    "validation": ({},),
    "annotations": ({"api-approved.kubernetes.io": "unapproved"}, {"a": 1}),
}
_MAPS: Final = ("properties", "patternProperties", "definitions", "annotations", "labels")


def mutant(data: dict[str, Any], random: Random) -> tuple[dict[str, Any], list[str]]:
    """Give a CRD with up to three changes, and say what they are."""
    changed = copy.deepcopy(data)
    said = [_change(changed, random) for _ in range(random.choice(_CHANGES))]
    return changed, said


def _change(data: dict[str, Any], random: Random) -> str:
    schemas, others = _mappings(data)
    place, node = random.choice(schemas if schemas and random.random() < 0.8 else others)
    pool = _KEYWORDS if any(node is schema for _, schema in schemas) else _OF_A_CRD
    kind = random.random()
    if kind < 0.25 and node:
        name = random.choice(list(node))
        del node[name]
        return f"{place}: {name} taken away"
    if kind < 0.33 and node:
        name, value = random.choice(list(node)), random.choice(_ODD)
    elif kind < 0.4 and len(schemas) > 1:
        name, value = random.choice(list(node) or ["items"]), random.choice(schemas)[1]
    elif kind < 0.43:
        name, value = random.choice(("unheardOf", "Type", "maxlength")), random.choice(_ODD)
    else:
        name = random.choice(list(pool))
        value = random.choice(pool[name] if random.random() < 0.93 else _ODD)
    node[name] = copy.deepcopy(value)
    return f"{place}: {name} = {str(value)[:80]}"


def _mappings(data: dict[str, Any]) -> tuple[list[tuple[str, dict[str, Any]]], list[tuple[str, dict[str, Any]]]]:
    """Give the mappings that are schemas, and those that are none, with their places."""
    schemas: list[tuple[str, dict[str, Any]]] = []
    others: list[tuple[str, dict[str, Any]]] = []
    pending: list[tuple[str, Any, bool]] = [("", data, False)]
    while pending:
        place, value, in_schema = pending.pop()
        if isinstance(value, list):
            pending += [(f"{place}[{index}]", item, in_schema) for index, item in enumerate(value)]
        if not isinstance(value, dict):
            continue
        if place:
            (schemas if in_schema else others).append((place, value))
        for name, item in value.items():
            inner = f"{place}.{name}"
            if name == "openAPIV3Schema" or (in_schema and name in _INNER):
                pending.append((inner, item, True))
            elif in_schema and name in _MAPS and isinstance(item, dict):
                pending += [(f"{inner}.{key}", part, True) for key, part in item.items()]
            elif not in_schema and name != "metadata":
                pending.append((inner, item, False))
    return schemas, others


_INNER: Final = ("items", "additionalProperties", "allOf", "anyOf", "oneOf", "not")
