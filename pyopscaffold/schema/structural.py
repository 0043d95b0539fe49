"""A structural schema as a value, and its JSON form.

The vocabulary is that of apiextensions.k8s.io/v1 JSONSchemaProps, less what a structural schema may not hold.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from pyopscaffold.kube.names import camel_case


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


Junctor = Mapping[str, Any]
"""A schema in JSON form that holds value validations only, as they stand in allOf, anyOf, oneOf and not."""


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
    enum: tuple[Any, ...] = field(default=(), hash=False)
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
    external_docs: Mapping[str, str] = field(default_factory=dict, hash=False)
    all_of: tuple[Junctor, ...] = field(default=(), hash=False)
    any_of: tuple[Junctor, ...] = field(default=(), hash=False)
    one_of: tuple[Junctor, ...] = field(default=(), hash=False)
    not_: Junctor | None = field(default=None, hash=False)

    def having(self, **changes: Any) -> Schema:
        """Return this schema with other attributes: ``dataclasses.replace``, without the cost of 40 arguments."""
        if not changes:
            return self
        made = object.__new__(Schema)
        made.__dict__.update(self.__dict__, **changes)
        return made

    def rewritten(self, change: Callable[[Schema], Schema]) -> Schema:
        """Return this schema with ``change`` made to each node, the innermost first."""
        return change(
            self.having(
                properties={name: child.rewritten(change) for name, child in self.properties.items()},
                items=self.items and self.items.rewritten(change),
                additional_properties=self.additional_properties and self.additional_properties.rewritten(change),
            )
        )


_KEYS: Final = {
    "list_type": "x-kubernetes-list-type",
    "list_map_keys": "x-kubernetes-list-map-keys",
    "map_type": "x-kubernetes-map-type",
    "int_or_string": "x-kubernetes-int-or-string",
    "embedded_resource": "x-kubernetes-embedded-resource",
    "preserve_unknown_fields": "x-kubernetes-preserve-unknown-fields",
    "rules": "x-kubernetes-validations",
    "not_": "not",
}
"""JSON keys that are not the camelCase of their attribute."""

INTEGER_OR_STRING: Final = ({"type": "integer"}, {"type": "string"})
"""The alternatives that stand beside ``x-kubernetes-int-or-string``."""


def to_mapping(schema: Schema) -> dict[str, Any]:
    """Return the JSON form, keys in alphabetical order as controller-gen writes them."""
    out = {
        key_of(name): _WRITERS[name](value) if name in _WRITERS else value
        for name, value in vars(schema).items()
        if _is_set(name, value)
    }
    if schema.int_or_string:
        # The one form of it beside validations of the author's own (apiextensions/v1, XIntOrString).
        if schema.any_of:
            out["allOf"] = [{"anyOf": [*INTEGER_OR_STRING]}, *schema.all_of]
        else:
            out["anyOf"] = [*INTEGER_OR_STRING]
    return dict(sorted(out.items()))


def _is_set(name: str, value: Any) -> bool:
    if name in {"default", "example"}:
        return value is not UNSET
    # 0 is a bound as any other.
    return bool(value) or (value == 0 and value is not False)


@cache
def key_of(name: str) -> str:
    """Return the JSON key of an attribute of Schema or Rule."""
    return _KEYS.get(name) or camel_case(name)


def _properties(properties: Mapping[str, Schema]) -> dict[str, Any]:
    return {name: to_mapping(properties[name]) for name in sorted(properties)}


def _rules(rules: tuple[Rule, ...]) -> list[dict[str, Any]]:
    return [
        dict(sorted((key_of(name), value) for name, value in vars(rule).items() if value not in ("", None)))
        for rule in rules
    ]


_WRITERS: Final[dict[str, Callable[[Any], Any]]] = {
    "properties": _properties,
    "items": to_mapping,
    "additional_properties": to_mapping,
    "rules": _rules,
    "external_docs": lambda docs: dict(sorted(docs.items())),
    **dict.fromkeys(("enum", "required", "list_map_keys", "all_of", "any_of", "one_of"), list),
}
