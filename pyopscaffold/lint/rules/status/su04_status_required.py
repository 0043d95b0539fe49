"""SU04: nobody has to write a status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.edits import without_required
from pyopscaffold.lint.example import crd, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report a required status, and required fields right below it."""
    if version.root is None or version.status is None:
        return
    if "status" in version.root.required:
        message = "status is required, so nobody can create an object without one"
        yield Hit((*version.root.path, "required"), message, ".status", fix=_fix(version.root, ["status"]))
    names = [name for name in version.status.required if isinstance(name, str)]
    if names:
        message = f"status requires {', '.join(names)}: a first status that only has something else is refused"
        yield Hit((*version.status.path, "required"), message, ".status", fix=_fix(version.status, names))


def _fix(node: Node, names: list[str]) -> Fix:
    return Fix((without_required(node, *names),))


_GENERATION = "observedGeneration: {type: integer, format: int64, description: Generation.}"

RULE = Rule(
    id="SU04",
    name="status-required",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="The status and the fields right below it are optional.",
    why="Each controller writes its own part, and the first writer has no more than that. A field that becomes "
    "required also makes every object that is stored without it unwritable.",
    check=check,
    good=(status(_GENERATION),),
    bad=(
        crd(f"status: {{type: object, required: [observedGeneration], properties: {{{_GENERATION}}}}}"),
        status(_GENERATION) + "        required: [status]\n",
    ),
    good_class=widget(),
)
