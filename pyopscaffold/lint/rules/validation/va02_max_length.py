"""VA02: strings, lists and maps of the spec have an upper bound."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.celnames import escape_field
from pyopscaffold.kube.values import text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOUND = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}
_SHORT = frozenset({"date", "date-time", "ipv4", "ipv6", "uuid", "mac", "cidr", "duration"})


def check(version: Version) -> Iterator[Hit]:
    """Report what may be of any size; it is an error where a CEL rule reads it, since its size is the rule's cost."""
    for node in version.own("spec"):
        bound = _BOUND.get(node.type)
        if bound is None or bound in node.schema or _is_bounded(node):
            continue
        read = _is_read(node)
        suffix = ", and a CEL rule reads it" if read else ""
        severity = Severity.ERROR if read else None
        yield Hit(node.path, f"{node.field} has no {bound}{suffix}", node.field, severity=severity)


def _is_bounded(node: Node) -> bool:
    if node.type == "object":
        return not isinstance(node.schema.get("additionalProperties"), dict)
    return "enum" in node.schema or text(node.schema.get("format")) in _SHORT


def _is_read(node: Node) -> bool:
    """Whether a rule of the node, or one above it that names its field, goes over the value."""
    if node.rules:
        return True
    above, rules = node.holder.parent, []
    while above is not None:
        rules += above.rules
        above = above.parent
    return any(re.search(rf"\.{re.escape(escape_field(node.holder.name))}\b", rule) for rule in rules)


RULE = Rule(
    id="VA02",
    name="max-length",
    severity=Severity.WARNING,
    profile=Profile.OPT_IN,
    subject=Version,
    what="Strings have a maxLength, lists a maxItems, maps a maxProperties.",
    why="The server works out a CEL rule's cost from the largest values the schema allows: without bounds that is "
    "3 MiB, and the first rule that goes over such a value is refused, in a version that may not be narrowed any more.",
    check=check,
    good=(
        spec("name: {type: string, maxLength: 63}"),
        spec("zones: {type: array, maxItems: 9, items: {type: string, enum: [a, b]}}"),
    ),
    bad=(
        spec("name: {type: string, minLength: 1}"),
        spec("zones: {type: array, items: {type: string, enum: [a, b]}}"),
        spec("labels: {type: object, additionalProperties: {type: string, maxLength: 63}}"),
        spec("name: {type: string, x-kubernetes-validations: [{rule: self != 'x', message: not x}]}"),
    ),
    good_class=widget(
        '''
        zones: Annotated[list[Literal["a", "b"]], MaxLen(9)] = field(default_factory=list)
        """Where it runs."""
        '''
    ),
    bad_class=widget(
        '''
        zones: list[Literal["a", "b"]] = field(default_factory=list)
        """Where it runs."""
        '''
    ),
)
