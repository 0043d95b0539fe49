"""VA07: patterns are expressions of RE2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version
from pyopscaffold.schema import regex

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report patterns that Go's regexp refuses."""
    for part in version.subschemas:
        pattern = text(part.schema.get("pattern"))
        if not pattern:
            continue
        try:
            regex.parse(pattern)
        except regex.BadPattern as fault:
            where = part.node.field or "the root"
            yield Hit((*part.path, "pattern"), f"the pattern of {where} is none of RE2: {fault}", part.node.field)


RULE = Rule(
    id="VA07",
    name="pattern-re2",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="A pattern is a regular expression of RE2 (https://github.com/google/re2/wiki/Syntax).",
    why="The API server refuses others. RE2 has no look-around and no back references, which other languages' "
    "libraries and online testers have.",
    check=check,
    good=(spec("name: {type: string, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$'}"),),
    bad=(
        spec("name: {type: string, pattern: '^(?!kube-)[a-z]+$'}"),
        spec(r"name: {type: string, pattern: '^(a|b)\1$'}"),
        spec("name: {type: string, pattern: '[a-z'}"),
        spec("name: {type: string, anyOf: [{pattern: '^a*+$'}]}"),
    ),
    good_class=widget(
        '''
        name: Annotated[str, Pattern("^[a-z]([-a-z0-9]*[a-z0-9])?$")]
        """Name of the part."""
        '''
    ),
)
