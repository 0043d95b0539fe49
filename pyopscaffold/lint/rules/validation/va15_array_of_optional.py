"""VA15: the items of a list say something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEMANDS = frozenset(
    {
        *("required", "minProperties", "anyOf", "oneOf", "allOf", "not", "x-kubernetes-validations"),
        *("x-kubernetes-preserve-unknown-fields", "additionalProperties"),
    }
)


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own lists of objects that may each be empty."""
    for node in version.own("spec"):
        items = node.items if node.type == "array" else None
        if items is None or items.type != "object" or items.core_type or not items.properties:
            continue
        if not any(items.schema.get(keyword) for keyword in _DEMANDS):
            message = f"{node.field} takes items that are empty: require a field of them"
            yield Hit((*node.path, "items"), message, node.field)


RULE = Rule(
    id="VA15",
    name="array-of-optional",
    severity=Severity.INFO,
    profile=Profile.STRICT,
    subject=Version,
    what="The objects of a list have a required field, or a rule of which fields they have.",
    why="An empty item is mostly a slip of the indentation, such as '-' before each line; a required field finds it.",
    check=check,
    good=(spec("ports: {type: array, items: {type: object, required: [port], properties: {port: {type: integer}}}}"),),
    bad=(spec("ports: {type: array, items: {type: object, properties: {port: {type: integer}}}}"),),
    good_class=widget(
        '''
        ports: list[Port] = field(default_factory=list)
        """Where it listens."""
        ''',
        before=struct("Port", "port: int32"),
    ),
    bad_class=widget(
        '''
        ports: list[Port] = field(default_factory=list)
        """Where it listens."""
        ''',
        before=struct("Port", "port: int32 = 0"),
    ),
)
