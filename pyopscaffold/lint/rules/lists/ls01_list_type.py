"""LS01: a list of objects says how it is merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own lists of objects without a list type; conditions are for CO04."""
    for node in version.own("spec", "status"):
        of_objects = node.type == "array" and node.items is not None and node.items.type == "object"
        if of_objects and not node.schema.get("x-kubernetes-list-type") and node.field != ".status.conditions":
            message = f"{node.field} is a list of objects without x-kubernetes-list-type: say map, or atomic"
            yield Hit(node.path, message, node.field)


_ITEM = "{type: object, required: [name], properties: {name: {type: string, maxLength: 63}}}"

RULE = Rule(
    id="LS01",
    name="list-type",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="A list of objects has x-kubernetes-list-type: map, whose keys tell the items apart, or atomic.",
    why="Without it the list is atomic: who applies one item owns them all and drops those of others. A later change "
    "to map refuses objects with two items of one key.",
    check=check,
    good=(
        spec(
            f"ports: {{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {_ITEM}}}"
        ),
        spec(f"ports: {{type: array, x-kubernetes-list-type: atomic, items: {_ITEM}}}"),
    ),
    bad=(spec(f"ports: {{type: array, items: {_ITEM}}}"),),
    good_class=widget(
        '''
        ports: Annotated[list[Port], ListMap("name")] = field(default_factory=list)
        """Where it listens."""
        ''',
        before=struct("Port", "name: str"),
    ),
    bad_class=widget(
        '''
        ports: list[Port] = field(default_factory=list)
        """Where it listens."""
        ''',
        before=struct("Port", "name: str"),
    ),
)
