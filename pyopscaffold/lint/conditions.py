"""Conditions in schemas: where they are, what metav1.Condition asks of them, and how rules show them."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.lint.example import status, widget
from pyopscaffold.model.known import KNOWN
from pyopscaffold.schema import to_mapping

if TYPE_CHECKING:
    from pyopscaffold.lint.subject import Node, Version

_REQUIRED = ("type", "status", "reason", "message", "lastTransitionTime")
ALL: Final = ", ".join(_REQUIRED)
_PROPERTIES = to_mapping(KNOWN["Condition"])["properties"]
SCHEMAS: Final[dict[str, dict[str, Any]]] = {name: _PROPERTIES[name] for name in _REQUIRED}
"""The required fields of metav1.Condition and their schemas."""

CONDITIONS: Final[dict[str, Any]] = {
    "description": "What is observed of the object.",
    "items": to_mapping(KNOWN["Condition"]),
    "type": "array",
    "x-kubernetes-list-map-keys": ["type"],
    "x-kubernetes-list-type": "map",
}
"""The schema of a list of metav1.Condition."""

CONDITION: Final = (
    'type: {type: string, maxLength: 316}, status: {type: string, enum: ["True", "False", Unknown]}, '
    "reason: {type: string, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'}, "
    "message: {type: string, maxLength: 32768}, lastTransitionTime: {type: string, format: date-time}"
)
"""The properties of a good condition, as YAML in flow style."""


def condition_items(version: Version) -> Node | None:
    """Give the items of status.conditions where they are objects with a type and a status; else CO01 has its say."""
    conditions = version.conditions
    if conditions is None or conditions.type != "array":
        return None
    items = conditions.items
    return items if items and {"type", "status"} <= items.properties.keys() else None


def listed(properties: str, *, required: str = "type, status") -> str:
    """Write a CRD whose conditions have these properties."""
    items = f"{{type: object, required: [{required}], properties: {{{properties}}}}}"
    return status(
        f"conditions: {{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {items}}}"
    )


def bad_class(fields: str) -> str:
    """Write a module whose Widget has conditions of a class of its own."""
    return widget(
        status="""
        conditions: Annotated[list[Observation], ListMap("type")] = field(default_factory=list)
        \"\"\"Ready.\"\"\"
        """,
        before=f'@dataclass(kw_only=True)\nclass Observation:\n    """One observation."""\n\n{indent(fields, "    ")}',
    )
