"""VA01: strings of the spec are validated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTHS = frozenset({"minLength", "maxLength"})


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own strings in spec, down to list items and map values, that take any text."""
    for node in version.own("spec"):
        if node.type == "string" and not node.is_checked and _LENGTHS.isdisjoint(node.schema):
            message = f"{node.field} takes any text: give it an enum, pattern, format, minLength or maxLength"
            yield Hit(node.path, message, node.field)


RULE = Rule(
    id="VA01",
    name="string-constraint",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="Each string in the spec has an enum, a pattern, a format, a length or a CEL rule. "
    "The status is the controller's own and is left out, as is what embedded Kubernetes types hold.",
    why="What the API server does not refuse fails later, in the controller, where its author can't see it; and CEL "
    "rules over unbounded strings are refused as too costly.",
    check=check,
    good=(
        spec("name: {type: string, maxLength: 63}"),
        spec("mode: {type: string, enum: [Fast, Safe]}"),
        spec("name: {type: string, x-kubernetes-validations: [{rule: self.size() < 9}]}"),
        spec(
            "env: {type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}, "
            "valueFrom: {type: object}}}}"
        ),
        status("message: {type: string}"),
    ),
    bad=(
        spec("name: {type: string}"),
        spec("names: {type: array, items: {type: string}}"),
        spec("labels: {type: object, additionalProperties: {type: string}}"),
    ),
    good_class=widget(
        '''
        image: Annotated[str, MaxLen(255)]
        """Image to run."""
        '''
    ),
    bad_class=widget(
        '''
        image: str
        """Image to run."""
        '''
    ),
)
