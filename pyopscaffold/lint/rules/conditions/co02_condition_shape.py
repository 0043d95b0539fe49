"""CO02: a condition has the five fields of metav1.Condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.conditions import CONDITION, SCHEMAS, bad_class, condition_items, listed
from pyopscaffold.lint.example import widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the fields that the items of status.conditions lack."""
    items = condition_items(version)
    missing = [name for name in SCHEMAS if name not in items.properties] if items else []
    if items and missing:
        edits = tuple(Edit((*items.path, "properties", name), SCHEMAS[name]) for name in missing)
        message = f"conditions have no {', '.join(missing)}, which metav1.Condition has"
        yield Hit((*items.path, "properties"), message, items.field, fix=Fix(edits, safe=False))


RULE = Rule(
    id="CO02",
    name="condition-shape",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Each condition has type, status, reason, message and lastTransitionTime.",
    why="Tools decode conditions as metav1.Condition; what a schema does not name is dropped when it is written.",
    check=check,
    good=(listed(CONDITION),),
    bad=(listed("type: {type: string}, status: {type: string}, message: {type: string}"),),
    good_class=widget(),
    bad_class=bad_class('type: str\n"""What."""\n\nstatus: str\n"""Whether."""'),
)
