"""VA09: numbers are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own numbers that may have a fraction."""
    for node in version.own("spec", "status"):
        if node.type == "number":
            message = f"{node.field} is a floating-point number: use an integer of a smaller unit, or a quantity"
            yield Hit(node.path, message, node.field)


RULE = Rule(
    id="VA09",
    name="no-float",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="There are no floating-point numbers.",
    why="They do not come back as they were written: languages read and round them differently, so that an object "
    "differs from itself, and is updated for ever.",
    check=check,
    good=(spec("threshold: {type: integer, format: int32, description: In percent.}"),),
    bad=(spec("threshold: {type: number}"),),
    good_class=widget(
        '''
        cpu: Quantity
        """CPU of each pod."""
        '''
    ),
    bad_class=widget(
        '''
        cpu: float
        """CPU of each pod."""
        '''
    ),
)
