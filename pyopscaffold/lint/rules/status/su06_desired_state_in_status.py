"""SU06: the status does not say what is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTENT = frozenset({"desired", "wanted", "target", "spec"})


def check(version: Version) -> Iterator[Hit]:
    """Report fields right below status that are named as a wish; a desired count is worked out by a controller."""
    if version.status is None:
        return
    for node in version.status.children():
        if node.name and words(node.name)[0] in _INTENT and node.type != "integer":
            message = f"{node.field} reads as what is wanted: it belongs in spec, or needs the name of what was seen"
            yield Hit(node.path, message, node.field)


RULE = Rule(
    id="SU06",
    name="desired-state-in-status",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The status has no fields named desired, wanted, target or spec.",
    why="A status can be lost and worked out anew from the world; a wish can't. "
    "Backups and GitOps tools keep the spec alone.",
    check=check,
    good=(status("version: {type: string}\ndesiredReplicas: {type: integer, format: int32}"),),
    bad=(status("targetVersion: {type: string}"), status("spec: {type: object, properties: {size: {type: integer}}}")),
    good_class=widget(),
    bad_class=widget(
        status='''
        desired_version: str = ""
        """Version to run."""
        '''
    ),
)
