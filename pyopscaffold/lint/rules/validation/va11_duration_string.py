"""VA11: a duration is a number of a unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = frozenset({"duration", "interval", "timeout", "ttl", "delay"})
_UNITS = re.compile(r"ms\b.*[hm]|\bh\|m\b|\[[^][s]*s[^][m]*m[^][h]*h")


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings that hold a duration as Go writes it."""
    for node in version.own("spec"):
        if node.type == "string" and "enum" not in node.schema and _is_duration(node):
            message = f"{node.field} is a duration in words: an integer such as {_seconds(node)} needs no parser"
            yield Hit(node.path, message, node.field)


def _is_duration(node: Node) -> bool:
    if node.schema.get("format") == "duration" or _UNITS.search(text(node.schema.get("pattern"))):
        return True
    return bool(node.name) and last_word(node.name) in _NAMES and "pattern" not in node.schema


def _seconds(node: Node) -> str:
    return f"{node.name}Seconds" if node.name else "seconds"


RULE = Rule(
    id="VA11",
    name="duration-string",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="A duration is an integer whose name has the unit, such as timeoutSeconds.",
    why="1h30m, 90m and 5400s are one duration and three texts; clients in other languages than Go have no parser for "
    "it, and a CEL rule can't put a bound on it as easily.",
    check=check,
    good=(spec("timeoutSeconds: {type: integer, format: int32}"),),
    bad=(
        spec("timeout: {type: string}"),
        spec("every: {type: string, format: duration}"),
        spec("every: {type: string, pattern: '^([0-9]+(ms|s|m|h))+$'}"),
    ),
    good_class=widget(
        '''
        timeout_seconds: int32 = 0
        """How long to wait."""
        '''
    ),
    bad_class=widget(
        '''
        timeout: timedelta
        """How long to wait."""
        '''
    ),
)
