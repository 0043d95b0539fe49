"""SU05: nothing but observedGeneration is defaulted in status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyopscaffold.lint.example import crd, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNOBSERVED = {"observedGeneration": -1}


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own defaults in status, save the one that says that nobody has looked yet.

    Those within lists and maps stay: they complete what a controller wrote.
    """
    for node in version.own("status"):
        default = node.schema.get("default")
        if default in (None, {}) or node.field[-1] in "]}" or "[]." in node.field or "{}." in node.field:
            continue
        if _is_unobserved(node.field, default):
            continue
        shown = json.dumps(default, ensure_ascii=False, default=str)
        yield Hit((*node.path, "default"), f"{node.field} defaults to {shown}, which nobody observed", node.field)


def _is_unobserved(field: str, default: object) -> bool:
    return (field == ".status" and default == _UNOBSERVED) or (field == ".status.observedGeneration" and default == -1)


RULE = Rule(
    id="SU05",
    name="status-default",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="The status has no defaults, save observedGeneration: -1.",
    why="A status is what a controller saw. A default stands there as if one had, also where none is running; "
    "observedGeneration -1 alone says that none has.",
    check=check,
    good=(
        crd(
            "status: {type: object, default: {observedGeneration: -1}, "
            "properties: {observedGeneration: {type: integer, format: int64}}}"
        ),
    ),
    bad=(
        status("phase: {type: string, default: Running}"),
        crd("status: {type: object, default: {ready: true}, properties: {ready: {type: boolean}}}"),
    ),
    good_class=widget(),
    bad_class=widget(
        status='''
        ready: Annotated[bool, Default(value=True)] = True
        """Whether it serves."""
        '''
    ),
)
