"""VA12: there is one way to leave a field out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own nullable fields, and that null keeps a default away."""
    for node in version.own("spec", "status"):
        if node.schema.get("nullable") is True:
            more = ", and null keeps its default away" if node.has_default else ""
            yield Hit((*node.path, "nullable"), f"{node.field} may be null{more}: let it be absent", node.field)


RULE = Rule(
    id="VA12",
    name="nullable",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="Fields are optional rather than nullable.",
    why="Null and absent mean the same to most clients, and not to all: Go writes one for the other, server-side apply "
    "owns one and not the other, and a default fills in one of them.",
    check=check,
    good=(spec("zone: {type: string, maxLength: 63}"),),
    bad=(spec("zone: {type: string, nullable: true}"), spec("zone: {type: string, nullable: true, default: a}")),
    good_class=widget(
        '''
        zone: Annotated[str, MaxLen(63)] | None = None
        """Where it runs."""
        '''
    ),
    bad_class=widget(
        '''
        zone: Annotated[str, MaxLen(63), Nullable()] | None = None
        """Where it runs."""
        '''
    ),
)
