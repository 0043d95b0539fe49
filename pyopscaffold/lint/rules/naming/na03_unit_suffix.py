"""NA03: a number of something says of what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import words
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_TIMES = frozenset({"timeout", "interval", "period", "delay", "duration", "ttl", "age", "backoff", "deadline"})
_UNITS = frozenset({"ms", "millis", "milliseconds", "seconds", "minutes", "hours", "days"})


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own integers that are a time and do not name its unit."""
    for node in version.own("spec", "status"):
        spelt = words(node.name)
        if node.type == "integer" and spelt[-1] in _TIMES and _UNITS.isdisjoint(spelt):
            yield Hit(
                node.path,
                f"{node.field} is a number of what? Name its unit at the end, such as Seconds",
                node.field,
            )


RULE = Rule(
    id="NA03",
    name="unit-suffix",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="An integer that is a time ends in its unit: timeoutSeconds.",
    why="Seconds in one API are milliseconds in another; the name is the only thing that everybody reads.",
    check=check,
    good=(spec("timeoutSeconds: {type: integer, format: int32}"),),
    bad=(spec("timeout: {type: integer, format: int32}"), spec("scrapeInterval: {type: integer, format: int32}")),
    good_class=widget(
        '''
        timeout_seconds: int32 = 0
        """How long to wait."""
        '''
    ),
    bad_class=widget(
        '''
        timeout: int32 = 0
        """How long to wait."""
        '''
    ),
)
