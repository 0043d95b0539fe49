"""ST09: an object has fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, struct, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAYS_MORE = frozenset(
    {
        *("additionalProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"),
        *("maxProperties", "nullable"),
    }
)


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own objects that declare nothing, so that all in them is dropped."""
    for node in version.own("spec", "status"):
        is_bare = node.type == "object" and not node.properties and _SAYS_MORE.isdisjoint(node.schema)
        if is_bare and node.name != "metadata":
            message = f"{node.field} declares no fields: the server drops whatever is sent in it"
            yield Hit(node.path, message, node.field)


RULE = Rule(
    id="ST09",
    name="opaque-object",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="An object declares its fields, the schema of its values, or that it preserves unknown fields.",
    why="A bare 'type: object' reads as if it took anything. It takes nothing: the server prunes all that is in it, "
    "without a word.",
    check=check,
    good=(
        spec("labels: {type: object, additionalProperties: {type: string, maxLength: 63}}"),
        spec("values: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
        spec("never: {type: object, maxProperties: 0}"),
    ),
    bad=(
        spec("values: {type: object, description: Values of the chart.}"),
        spec("values: {type: object, properties: {}}"),
    ),
    good_class=widget(
        '''
        labels: dict[str, Annotated[str, MaxLen(63)]] = field(default_factory=dict)
        """Labels of the pods."""
        '''
    ),
    bad_class=widget(
        '''
        values: Values | None = None
        """Values of the chart."""
        ''',
        before=struct("Values"),
    ),
)
