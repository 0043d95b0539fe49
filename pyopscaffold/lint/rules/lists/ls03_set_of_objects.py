"""LS03: the items of a set are scalars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEYWORD = {"object": "x-kubernetes-map-type", "array": "x-kubernetes-list-type"}


def check(version: Version) -> Iterator[Hit]:
    """Report sets of what the server can't compare as a whole, which it refuses, or can, which it warns of."""
    for node in version.nodes:
        if node.schema.get("x-kubernetes-list-type") != "set":
            continue
        items = mapping(node.schema.get("items"))
        keyword = _KEYWORD.get(str(items.get("type")))
        if items.get("nullable") is True:
            yield Hit((*node.path, "items", "nullable"), f"items of the set {node.field} can't be nullable", node.field)
        if keyword is None:
            continue
        # Lists are atomic unless they say otherwise, objects are not.
        if items.get(keyword) != "atomic" and not (keyword == "x-kubernetes-list-type" and items.get(keyword) is None):
            message = f"{node.field} is a set of {items['type']}s, so {keyword} of its items must be atomic"
            yield Hit((*node.path, "items", keyword), message, node.field)
        else:
            message = f"{node.field} is a set of {items['type']}s, which server-side apply and CEL rules don't know"
            yield Hit((*node.path, "x-kubernetes-list-type"), message, node.field, severity=Severity.WARNING)


_OBJECT = "{type: object, x-kubernetes-map-type: atomic, properties: {name: {type: string, maxLength: 63}}}"

RULE = Rule(
    id="LS03",
    name="set-of-objects",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="The items of a set are scalars.",
    why="The API server refuses sets of what it merges field by field, and warns of sets of what it replaces as a "
    "whole: to change one item is to remove it and add another. A list-map, or an atomic list, says what is meant.",
    check=check,
    good=(
        spec("names: {type: array, x-kubernetes-list-type: set, items: {type: string, maxLength: 63}}"),
        spec(f"people: {{type: array, x-kubernetes-list-type: atomic, items: {_OBJECT}}}"),
    ),
    bad=(
        spec(f"people: {{type: array, x-kubernetes-list-type: set, items: {_OBJECT}}}").replace("atomic", "granular"),
        spec(
            "lists: {type: array, x-kubernetes-list-type: set, "
            "items: {type: array, x-kubernetes-list-type: set, items: {type: string}}}"
        ),
        spec("names: {type: array, x-kubernetes-list-type: set, items: {type: string, nullable: true}}"),
        spec(f"people: {{type: array, x-kubernetes-list-type: set, items: {_OBJECT}}}"),
    ),
    good_class=widget(
        '''
        names: Annotated[list[str], ListSet()] = field(default_factory=list)
        """Names."""
        '''
    ),
)
