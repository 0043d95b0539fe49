"""CO06: a condition's reason is a word for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.conditions import CONDITION, SCHEMAS, bad_class, condition_items, listed
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report a reason that may be any text."""
    items = condition_items(version)
    reason = items.property("reason") if items else None
    if reason is None or reason.type != "string" or {"pattern", "enum"} & reason.schema.keys():
        return
    fix = Fix(with_keywords(reason, pattern=SCHEMAS["reason"]["pattern"]), safe=False)
    yield Hit(reason.path, "a condition's reason may be any text: give it a pattern", reason.field, fix=fix)


RULE = Rule(
    id="CO06",
    name="condition-reason-pattern",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A condition's reason has a pattern that asks for one CamelCase word.",
    why="Alerts and scripts match reasons. A sentence in there is for people, changes with each release, and belongs "
    "in the message.",
    check=check,
    good=(listed(CONDITION),),
    bad=(listed("type: {type: string}, status: {type: string}, reason: {type: string}"),),
    good_class=widget(),
    bad_class=bad_class('type: str\n"""What."""\n\nstatus: str\n"""Whether."""\n\nreason: str = ""\n"""Why."""'),
)
