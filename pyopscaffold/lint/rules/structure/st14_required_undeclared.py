"""ST14: what is required is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPE_META = ("apiVersion", "kind", "metadata")


def check(version: Version) -> Iterator[Hit]:
    """Report names in ``required`` that are no properties, where other ones are pruned."""
    for node in version.nodes:
        if not node.required or _keeps_others(node):
            continue
        is_resource = node.parent is None or node.schema.get("x-kubernetes-embedded-resource") is True
        for index, name in enumerate(node.required):
            if isinstance(name, str) and name not in node.properties and not (is_resource and name in _TYPE_META):
                where = node.field or "the root"
                message = f"{where} requires {name!r}, which it does not declare, so no object can be created"
                yield Hit((*node.path, "required", index), message, node.field)


def _keeps_others(node: Node) -> bool:
    values = node.schema.get("additionalProperties")
    is_map = values is not None and values is not False
    return is_map or node.schema.get("x-kubernetes-preserve-unknown-fields") is True or node.type not in ("object", "")


RULE = Rule(
    id="ST14",
    name="required-undeclared",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="What is required is a property.",
    why="The API server takes the CRD, drops the field from every object, since it does not know it, and then refuses "
    "the object for not having it.",
    check=check,
    good=(
        spec("a: {type: object, required: [b], properties: {b: {type: string, maxLength: 9}}}"),
        spec("a: {type: object, required: [b], additionalProperties: {type: string, maxLength: 9}}"),
        spec("a: {type: object, required: [b], x-kubernetes-preserve-unknown-fields: true}"),
    ),
    bad=(
        spec("a: {type: object, required: [c], properties: {b: {type: string}}}"),
        spec("a: {type: array, items: {type: object, required: [b]}}"),
    ),
    good_class=widget(),
)
