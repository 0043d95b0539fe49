"""VA05: the values of an enum are in CamelCase."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*")
_OTHERS = frozenset({"resource", "scheme"})
_WORD = re.compile(r"[A-Za-z][\w-]*")


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own enums with words of another case.

    Where one value is of several words, or has dots or signs, all are others' names, as are resources and URL schemes;
    and where each word is there in both cases, the CamelCase one can be written.
    """
    for node in version.own("spec", "status"):
        values = [value for value in listing(node.schema.get("enum")) if isinstance(value, str)]
        camel = {value.lower() for value in values if _CAMEL.fullmatch(value)}
        odd = [value for value in values if value.upper() != value and value.lower() not in camel]
        if odd and node.name not in _OTHERS and all(_WORD.fullmatch(value) for value in values if value):
            shown = ", ".join(odd[:3]) + (", …" if odd[3:] else "")
            yield Hit((*node.path, "enum"), f"{node.field} has values that are not CamelCase: {shown}", node.field)


RULE = Rule(
    id="VA05",
    name="enum-case",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="The values of an enum are CamelCase words, or all capitals as acronyms are.",
    why="All of Kubernetes' own are (Always, ClusterIP, TCP); a user need not remember how this API spells.",
    check=check,
    good=(
        spec("mode: {type: string, enum: [Always, IfNotPresent, TCP, '']}"),
        spec("usage: {type: string, enum: [signing, digital signature]}"),
    ),
    bad=(spec("mode: {type: string, enum: [always, if-not-present]}"),),
    good_class=widget(
        '''
        mode: Literal["Always", "Never"]
        """How it runs."""
        '''
    ),
    bad_class=widget(
        '''
        mode: Literal["always", "never"]
        """How it runs."""
        '''
    ),
)
