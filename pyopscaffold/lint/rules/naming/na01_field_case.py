"""NA01: names of fields are in camelCase."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAMEL = re.compile(r"[a-z][A-Za-z0-9]*")


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own fields whose names have capitals first, dashes or underscores."""
    for node in version.own("spec", "status"):
        if node.name and not _CAMEL.fullmatch(node.name):
            yield Hit(node.path, f"{node.field} is not in camelCase", node.field)


RULE = Rule(
    id="NA01",
    name="field-case",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="Names of fields start with a small letter, and have letters and digits only.",
    why="All of Kubernetes' own do. Others can't be written in a CEL rule or a JSONPath without escapes, and clients "
    "in most languages have to rename them.",
    check=check,
    good=(spec("clusterIPs: {type: array, items: {type: string, format: ipv4}}"),),
    bad=(spec("Size: {type: integer}"), spec("node_selector: {type: string}"), spec("max-size: {type: integer}")),
    good_class=widget(
        '''
        max_size: int32 = 0
        """Number of parts."""
        '''
    ),
    bad_class=widget(
        '''
        max_size: Annotated[int32, Name("max_size")] = 0
        """Number of parts."""
        '''
    ),
)
