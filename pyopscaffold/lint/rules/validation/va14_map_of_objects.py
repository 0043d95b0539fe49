"""VA14: several objects are a list with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own maps whose values are objects."""
    for node in version.own("spec", "status"):
        if mapping(node.schema.get("additionalProperties")).get("type") == "object":
            message = f"{node.field} is a map of objects: make it a list-map whose key is a field with a name"
            yield Hit((*node.path, "additionalProperties"), message, node.field)


RULE = Rule(
    id="VA14",
    name="map-of-objects",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="Several objects are a list with x-kubernetes-list-type map, not a map.",
    why="The keys of a map have no name, no description and no pattern, and patches can't tell a key from a field. "
    "A list-map merges as well.",
    check=check,
    good=(
        spec("labels: {type: object, additionalProperties: {type: string, maxLength: 63}}"),
        spec(
            "pools: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], "
            "items: {type: object, required: [name], properties: {name: {type: string, maxLength: 63}}}}"
        ),
    ),
    bad=(spec("pools: {type: object, additionalProperties: {type: object, properties: {size: {type: integer}}}}"),),
    good_class=widget(
        '''
        pools: Annotated[list[Pool], ListMap("name")] = field(default_factory=list)
        """Groups of nodes."""
        ''',
        before=struct("Pool", "name: str"),
    ),
    bad_class=widget(
        '''
        pools: dict[str, Pool] = field(default_factory=dict)
        """Groups of nodes."""
        ''',
        before=struct("Pool", "size: int32"),
    ),
)
