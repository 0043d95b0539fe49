"""VA04: a choice is an enum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHOICES = frozenset({"mode", "policy", "strategy", "state", "type"})
_OPEN = frozenset(
    {
        *("content", "media", "mime", "instance", "machine", "node", "volume", "disk", "vm", "storage", "event"),
        *("grant", "token", "resource", "data", "server", "image", "authorization", "auth"),
    }
)
"""Words that, before type or as the name of the object around it, speak of a set that others keep."""


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings in spec that are named as a choice and take any text."""
    for node in version.own("spec"):
        if node.type != "string" or not node.name or node.is_checked:
            continue
        *before, last = words(node.name)
        if not before and node.parent is not None:
            before = [*words(node.parent.name)]
        if last in _CHOICES and not _OPEN.intersection(before[-1:]):
            yield Hit(node.path, f"{node.field} is a choice that takes any text: give it an enum", node.field)


RULE = Rule(
    id="VA04",
    name="state-enum",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A string that is named mode, policy, strategy, state or type has an enum, or a pattern where others may add "
    "to the choice.",
    why="The controller knows a handful of values. Any other is stored, and does nothing or fails far from its author.",
    check=check,
    good=(
        spec("mode: {type: string, enum: [Fast, Safe]}"),
        spec("instanceType: {type: string, maxLength: 32}"),
    ),
    bad=(spec("mode: {type: string, maxLength: 32}"), spec("deletionPolicy: {type: string}")),
    good_class=widget(
        '''
        mode: Literal["Fast", "Safe"]
        """How it runs."""
        '''
    ),
    bad_class=widget(
        '''
        mode: Annotated[str, MaxLen(32)]
        """How it runs."""
        '''
    ),
)
