"""CE03: a rule says in words what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = "x-kubernetes-validations"


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own CEL rules without message and messageExpression."""
    for node in version.nodes:
        if node.core:
            continue
        for index, rule in enumerate(listing(node.schema.get(_KEY))):
            if (
                isinstance(rule, dict)
                and rule.get("rule")
                and not (rule.get("message") or rule.get("messageExpression"))
            ):
                path = (*node.path, _KEY, index)
                yield Hit(path, f"a rule of {node.field or 'the object'} has no message", node.field)


RULE = Rule(
    id="CE03",
    name="cel-message",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="Each CEL rule has a message or a messageExpression.",
    why="Without one the user is shown the expression: 'failed rule: self.all(x, …)'.",
    check=check,
    good=(spec("size: {type: integer, x-kubernetes-validations: [{rule: self % 2 == 1, message: must be odd}]}"),),
    bad=(spec("size: {type: integer, x-kubernetes-validations: [{rule: self % 2 == 1}]}"),),
    good_class=widget(
        '''
        size: Annotated[int32, CEL("self % 2 == 1", message="must be odd")] = 1
        """Number of parts; 1 if unset."""
        '''
    ),
    bad_class=widget(
        '''
        size: Annotated[int32, CEL("self % 2 == 1")] = 1
        """Number of parts; 1 if unset."""
        '''
    ),
)
