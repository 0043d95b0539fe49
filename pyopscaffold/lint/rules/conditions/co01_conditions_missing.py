"""CO01: the status has conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.conditions import CONDITIONS
from pyopscaffold.lint.edits import with_property
from pyopscaffold.lint.example import crd, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def _has_any(version: Version) -> bool:
    """Whether conditions stand deeper in the status, as one list for each parent of a route."""
    return any(node.name == "conditions" and node.type == "array" for node in version.own("status"))


def check(version: Version) -> Iterator[Hit]:
    """Report a status whose ``conditions`` are no list of conditions; one that is missing is for SU02."""
    status, conditions = version.status, version.conditions
    if status is None or status.schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    if conditions is None and _has_any(version):
        return
    if conditions is None:
        fix = with_property(status, "conditions", CONDITIONS)
        yield Hit(status.path, "status has no conditions", status.field, fix=fix)
        return
    items = conditions.items
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
    good=(
        status(f"conditions: {{type: array, items: {_ITEM}}}"),
        crd("spec: {type: object}"),
        status(
            "parents: {type: array, items: {type: object, properties: "
            f"{{conditions: {{type: array, items: {_ITEM}}}}}}}}}"
        ),
    ),
    bad=(
        status("phase: {type: string, description: State.}"),
        status("conditions: {type: array, items: {type: string}}"),
        status(f"conditions: {{type: object, additionalProperties: {_ITEM}}}"),
    ),
    good_class=widget(),
    bad_class=widget(
        status='''
        ready: bool = False
        """Whether it serves."""
        '''
    ),
)
