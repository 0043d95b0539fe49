"""A structural schema as a value, and its JSON form.

The vocabulary is that of apiextensions.k8s.io/v1 JSONSchemaProps, less what a structural schema may not hold.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


class Unset(enum.Enum):
    """The type of :data:`UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET
"""No value, where None would be a JSON null."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One of ``x-kubernetes-validations``: a CEL expression that must hold, and what is said where it does not."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Schema:
    """One node; an attribute that is unset stays out of the JSON form.

    An int-or-string node has no ``type``: its two alternatives are written by :func:`to_mapping`.
    """

    type: str = ""
    format: str = ""
    title: str = ""
    description: str = ""
    default: Any = field(default=UNSET, hash=False)
    example: Any = field(default=UNSET, hash=False)
    nullable: bool = False
    enum: tuple[str | int, ...] = ()
    minimum: float | None = None
    exclusive_minimum: bool = False
    maximum: float | None = None
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    properties: Mapping[str, Schema] = field(default_factory=dict, hash=False)
    additional_properties: Schema | None = None
    required: tuple[str, ...] = ()
    items: Schema | None = None
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    int_or_string: bool = False
    embedded_resource: bool = False
    preserve_unknown_fields: bool = False
    rules: tuple[Rule, ...] = ()


_PLAIN: Final = {
    "type": "type",
    "format": "format",
    "title": "title",
    "description": "description",
    "nullable": "nullable",
    "minimum": "minimum",
    "exclusive_minimum": "exclusiveMinimum",
    "maximum": "maximum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
    "list_type": "x-kubernetes-list-type",
    "map_type": "x-kubernetes-map-type",
    "int_or_string": "x-kubernetes-int-or-string",
    "embedded_resource": "x-kubernetes-embedded-resource",
    "preserve_unknown_fields": "x-kubernetes-preserve-unknown-fields",
}
_VALUES: Final = {"default": "default", "example": "example"}
_LISTS: Final = {"enum": "enum", "required": "required", "list_map_keys": "x-kubernetes-list-map-keys"}
_RULE: Final = {
    "field_path": "fieldPath",
    "message": "message",
    "message_expression": "messageExpression",
    "optional_old_self": "optionalOldSelf",
    "reason": "reason",
    "rule": "rule",
}
_NODES: Final = {"items": "items", "additional_properties": "additionalProperties"}


def to_mapping(schema: Schema) -> dict[str, Any]:
    """Return the JSON form, keys in alphabetical order as controller-gen writes them."""
    out: dict[str, Any] = {}
    for name, key in _PLAIN.items():
        value = getattr(schema, name)
        if value or (value == 0 and value is not False and value is not None):
            out[key] = value
    for name, key in _VALUES.items():
        if (value := getattr(schema, name)) is not UNSET:
            out[key] = value
    for name, key in _LISTS.items():
        if value := getattr(schema, name):
            out[key] = list(value)
    for name, key in _NODES.items():
        if (node := getattr(schema, name)) is not None:
            out[key] = to_mapping(node)
    if schema.properties:
        out["properties"] = {name: to_mapping(schema.properties[name]) for name in sorted(schema.properties)}
    if schema.rules:
        out["x-kubernetes-validations"] = [_rule(rule) for rule in schema.rules]
    if schema.int_or_string:
        out["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    return dict(sorted(out.items()))


def _rule(rule: Rule) -> dict[str, Any]:
    return {key: value for name, key in _RULE.items() if (value := getattr(rule, name)) not in ("", None)}
