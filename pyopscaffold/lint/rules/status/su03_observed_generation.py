"""SU03: the status says which generation it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.edits import with_property
from pyopscaffold.lint.example import status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


_GENERATION = {
    "description": "Generation of the spec that this status is about.",
    "format": "int64",
    "type": "integer",
}


def check(version: Version) -> Iterator[Hit]:
    """Report a status without an integer ``observedGeneration``."""
    if version.status is None:
        return
    observed = version.status.property("observedGeneration")
    if observed is None:
        fix = with_property(version.status, "observedGeneration", _GENERATION)
        yield Hit(version.status.path, "status has no observedGeneration", ".status", fix=fix)
    elif observed.type != "integer":
        yield Hit(
            observed.path, f"observedGeneration is of type {observed.type or 'none'}, not integer", observed.field
        )


RULE = Rule(
    id="SU03",
    name="observed-generation",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The status has observedGeneration, an integer.",
    why="A reader can't tell otherwise whether conditions are about the spec of now or of before; "
    "kubectl wait, Argo CD and Flux compare it with metadata.generation.",
    check=check,
    good=(status("observedGeneration: {type: integer, format: int64, description: Generation.}"),),
    bad=(
        status("replicas: {type: integer, format: int32, description: Number of pods.}"),
        status("observedGeneration: {type: string, description: Generation.}"),
    ),
    good_class=widget(),
    bad_class=widget(
        status='''
        ready: bool = False
        """Whether it serves."""
        '''
    ),
)
