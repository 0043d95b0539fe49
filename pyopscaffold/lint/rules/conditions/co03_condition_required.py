"""CO03: a condition is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.conditions import ALL, CONDITION, SCHEMAS, bad_class, condition_items, listed
from pyopscaffold.lint.edits import with_required
from pyopscaffold.lint.example import widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the fields of a condition that may be left out."""
    items = condition_items(version)
    optional = [name for name in SCHEMAS if name in items.properties and name not in items.required] if items else []
    if items and optional:
        message = f"conditions do not require {', '.join(optional)}, as metav1.Condition does"
        yield Hit(items.path, message, items.field, fix=Fix((with_required(items, *optional),), safe=False))


RULE = Rule(
    id="CO03",
    name="condition-required",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Each condition's type, status, reason, message and lastTransitionTime are required.",
    why="Tools decode conditions as metav1.Condition, where the five are never absent: a condition without a time "
    "or a reason shows as the year 1, or as nothing.",
    check=check,
    good=(listed(CONDITION, required=ALL),),
    bad=(listed(CONDITION),),
    good_class=widget(),
    bad_class=bad_class(
        'type: str\n"""What."""\n\nstatus: str\n"""Whether."""\n\nreason: str = ""\n"""Why."""\n\n'
        'message: str = ""\n"""In words."""'
    ),
)
