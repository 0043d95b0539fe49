"""NA02: times end in Time, references in Ref."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORT = {"timestamp": "Time", "reference": "Ref", "references": "Refs"}


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own fields that end in the long words."""
    for node in version.own("spec", "status"):
        word = last_word(node.name)
        if word in _SHORT and node.name != word:
            wanted = node.name[: -len(word)] + _SHORT[word]
            yield Hit(node.path, f"{node.field} would be {wanted} in Kubernetes' own types", node.field)


RULE = Rule(
    id="NA02",
    name="timestamp-reference",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="A point in time is named fooTime, not fooTimestamp; a reference fooRef, not fooReference.",
    why="The API conventions name them so; who knows one API guesses the fields of the next.",
    check=check,
    good=(spec("startTime: {type: string, format: date-time}\nsecretRef: {type: object, properties: {}}"),),
    bad=(
        spec("startTimestamp: {type: string, format: date-time}"),
        spec("secretReference: {type: object, properties: {}}"),
    ),
    good_class=widget(
        '''
        start_time: datetime | None = None
        """When to start."""
        '''
    ),
    bad_class=widget(
        '''
        start_timestamp: datetime | None = None
        """When to start."""
        '''
    ),
)
