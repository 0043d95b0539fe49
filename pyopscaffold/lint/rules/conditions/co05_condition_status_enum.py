"""CO05: a condition holds, does not, or nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.conditions import CONDITION, bad_class, condition_items, listed
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUES = ["True", "False", "Unknown"]


def check(version: Version) -> Iterator[Hit]:
    """Report a condition's status that may be anything else."""
    items = condition_items(version)
    status = items.property("status") if items else None
    if status is None or status.type != "string":
        return
    enum = listing(status.schema.get("enum"))
    if not enum or any(value not in _VALUES for value in enum):
        message = f"a condition's status may be {enum or 'any text'}; it must be one of {', '.join(_VALUES)}"
        yield Hit(status.path, message, status.field, fix=Fix(with_keywords(status, enum=_VALUES), safe=False))


RULE = Rule(
    id="CO05",
    name="condition-status-enum",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="A condition's status is one of True, False and Unknown.",
    why="kubectl wait and the like compare these words; a condition that is true, Yes or Ready holds for none of them.",
    check=check,
    good=(listed(CONDITION),),
    bad=(
        listed(CONDITION.replace("Unknown", "Maybe")),
        listed("type: {type: string}, status: {type: string}"),
    ),
    good_class=widget(),
    bad_class=bad_class('type: str\n"""What."""\n\nstatus: str\n"""Whether."""'),
)
