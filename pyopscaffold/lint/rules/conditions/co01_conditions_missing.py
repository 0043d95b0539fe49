"""CO01: the status has conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, status
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report where ``status.conditions`` is no list of conditions."""
    if version.root is None:
        return
    conditions = version.conditions
    if conditions is None:
        place = version.status or version.root
        what = "status has no conditions" if version.status else f"version {version.name} has no status.conditions"
        yield Hit(place.path, what, place.field)
        return
    items = next((child for child in conditions.children() if not child.name), None)
    if conditions.type != "array" or items is None or not {"type", "status"} <= items.properties.keys():
        yield Hit(conditions.path, "status.conditions is no list of metav1.Condition", conditions.field)


_ITEM = "{type: object, properties: {type: {type: string}, status: {type: string}}}"

RULE = Rule(
    id="CO01",
    name="conditions-missing",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The status has conditions, a list of metav1.Condition.",
    why="Conditions are how people and tools (kubectl wait, Argo CD, Flux, Crossplane) read any object's state.",
    check=check,
    good=(status(f"conditions: {{type: array, items: {_ITEM}}}"),),
    bad=(
        crd("spec: {type: object}"),
        status("phase: {type: string, description: State.}"),
        status("conditions: {type: array, items: {type: string}}"),
        status(f"conditions: {{type: object, additionalProperties: {_ITEM}}}"),
    ),
)
