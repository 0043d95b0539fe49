"""CO04: conditions are a list-map by type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.edits import with_keywords, with_required
from pyopscaffold.lint.example import status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report conditions that are merged in another way than by type."""
    conditions = version.conditions
    if conditions is None or conditions.type != "array":
        return
    kind, keys = (conditions.schema.get(f"x-kubernetes-list-{suffix}") for suffix in ("type", "map-keys"))
    fix = _fix(conditions)
    if kind != "map":
        message = (
            f"status.conditions has x-kubernetes-list-type {kind or 'atomic (unset)'}; it must be map, with key type"
        )
        yield Hit(conditions.path, message, conditions.field, fix=fix)
    elif keys != ["type"]:
        message = "status.conditions must have x-kubernetes-list-map-keys [type]"
        yield Hit(conditions.path, message, conditions.field, fix=fix)


def _fix(conditions: Node) -> Fix | None:
    """Make it a list-map, whose key the server wants to be required."""
    items = conditions.items
    if items is None or "type" not in items.properties:
        return None
    merged = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    key = () if "type" in items.required else (with_required(items, "type"),)
    return Fix((*with_keywords(conditions, **merged), *key), safe=False)


_ITEM = "{type: object, required: [type, status], properties: {type: {type: string}, status: {type: string}}}"

RULE = Rule(
    id="CO04",
    name="condition-list-map",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="status.conditions is a list-map with the key type.",
    why="An atomic list belongs to one field manager as a whole: two controllers that apply one condition each wipe "
    "out each other's.",
    check=check,
    good=(
        status(
            "conditions: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], "
            f"items: {_ITEM}}}"
        ),
    ),
    bad=(
        status(f"conditions: {{type: array, items: {_ITEM}}}"),
        status("conditions: {type: array, items: {type: object, properties: {type: {type: string}}}}"),
        status(f"conditions: {{type: array, x-kubernetes-list-type: atomic, items: {_ITEM}}}"),
        status(
            "conditions: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [status], "
            f"items: {_ITEM}}}"
        ),
    ),
    good_class=widget(),
    bad_class=widget(
        status='''
        conditions: list[Condition] = field(default_factory=list)
        """Ready."""
        '''
    ),
)
