"""CO07: a state is told by conditions, not by a phase."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings in status that are a phase of the object, or of a part of it."""
    for node in version.own("status"):
        is_phase = node.name == "phase" or (node.field == f".status.{node.name}" and last_word(node.name) == "phase")
        if node.type == "string" and is_phase:
            yield Hit(node.path, f"{node.field} is a phase: say what is so by conditions", node.field)


RULE = Rule(
    id="CO07",
    name="phase-field",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="The status has no phase.",
    why="A phase is one word for several facts. Programs work out the facts from it, and break with each new word; "
    "the API conventions have deprecated it for conditions.",
    check=check,
    good=(
        status("steps: {type: array, items: {type: object, properties: {hookPhase: {type: string}}}}"),
        spec("phase: {type: string, enum: [One, Two]}"),
    ),
    bad=(status("phase: {type: string, enum: [Running, Failed]}"), status("syncPhase: {type: string}")),
    good_class=widget(),
    bad_class=widget(
        status='''
        phase: Literal["Running", "Failed"] = "Running"
        """How far it is."""
        '''
    ),
)
