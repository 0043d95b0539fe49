"""VA13: a choice has names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own booleans in spec."""
    for node in version.own("spec"):
        if node.type == "boolean":
            yield Hit(node.path, f"{node.field} is a boolean: an enum can have a third value one day", node.field)


RULE = Rule(
    id="VA13",
    name="bool",
    severity=Severity.WARNING,
    profile=Profile.OPT_IN,
    subject=Version,
    what="The spec has enums instead of booleans.",
    why="Few choices stay at two: what is true and false today gets a second boolean tomorrow, of which one "
    "combination makes no sense.",
    check=check,
    good=(spec("backups: {type: string, enum: [Enabled, Disabled]}"),),
    bad=(spec("backups: {type: boolean}"),),
    good_class=widget(
        '''
        backups: Literal["Enabled", "Disabled"] = "Disabled"
        """Whether it is backed up; Disabled if unset."""
        '''
    ),
    bad_class=widget(
        '''
        backups: bool = False
        """Whether it is backed up."""
        '''
    ),
)
