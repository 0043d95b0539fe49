"""VA18: a state goes only where it can go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import status, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report states with three or more values and no rule that looks at the one before; phases are for CO07."""
    for node in version.own("spec", "status"):
        if not node.name or last_word(node.name) != "state" or "[]" in node.field:
            continue
        if len(listing(node.schema.get("enum"))) > 2 and not _has_transition(node):  # noqa: PLR2004 - on and off
            message = f"{node.field} may go from any of its values to any other: add a CEL rule with oldSelf"
            yield Hit(node.path, message, node.field)


def _has_transition(node: Node) -> bool:
    above: Node | None = node
    while above is not None:
        if any("oldSelf" in rule and (above is node or node.name in rule) for rule in above.rules):
            return True
        above = above.parent
    return False


_STATE = "state: {{type: string, enum: [Pending, Shipped, Delivered]{rule}}}"
_RULE = ", x-kubernetes-validations: [{rule: \"self == oldSelf || oldSelf != 'Delivered'\", message: it stays}]"

RULE = Rule(
    id="VA18",
    name="state-transition",
    severity=Severity.INFO,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A state of three or more values has a CEL rule for the steps between them.",
    why="Only the server sees the state before and the one after: a rule with oldSelf there holds for every writer, "
    "also for a controller with a fault.",
    check=check,
    good=(status(_STATE.format(rule=_RULE)),),
    bad=(status(_STATE.format(rule="")),),
    good_class=widget(
        status='''
        state: Annotated[
            Literal["Pending", "Shipped", "Delivered"],
            CEL("self == oldSelf || oldSelf != 'Delivered'", message="a delivered one stays so"),
        ] = "Pending"
        """How far it has come."""
        '''
    ),
    bad_class=widget(
        status='''
        state: Literal["Pending", "Shipped", "Delivered"] = "Pending"
        """How far it has come."""
        '''
    ),
)
