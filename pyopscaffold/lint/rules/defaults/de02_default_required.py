"""DE02: a required field has no default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.edits import without_required
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report required properties with a default, save the keys of a list-map, which must be one of the two."""
    for node in version.nodes:
        if node.core or node.core_type:
            continue
        keys = _list_keys(node)
        for name in node.required:
            child = node.property(name) if isinstance(name, str) and name not in keys else None
            if child is not None and child.has_default:
                message = f"{child.field} is required and has a default; with a default it is optional"
                fix = Fix((without_required(node, name),))
                yield Hit((*child.path, "default"), message, child.field, fix=fix)


def _list_keys(node: Node) -> list[object]:
    is_item = node.parent is not None and node.path[-1] == "items"
    return listing(node.parent.schema.get("x-kubernetes-list-map-keys")) if is_item and node.parent else []


RULE = Rule(
    id="DE02",
    name="default-required",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="A field is required or has a default, not both.",
    why="The server fills in the default before it looks for required fields, but tools that validate files without a "
    "server (kubeconform, editors) do not, and refuse what the server takes.",
    check=check,
    good=(
        spec("a: {type: object, required: [b], properties: {b: {type: string}, c: {type: integer, default: 1}}}"),
        spec(
            "a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], "
            "items: {type: object, required: [b], properties: {b: {type: string, default: x}}}}"
        ),
    ),
    bad=(spec("a: {type: object, required: [b], properties: {b: {type: string, default: x}}}"),),
    good_class=widget(
        '''
        zone: str = "a"
        """Where it runs; a if unset."""
        '''
    ),
)
