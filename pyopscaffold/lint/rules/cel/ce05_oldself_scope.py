"""CE05: transition rules stand where the old value is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.cel import SyntaxFault, parse, variables
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES = "x-kubernetes-validations"


def check(version: Version) -> Iterator[Hit]:
    """Report oldSelf where no old value is found, and optionalOldSelf where there is no oldSelf."""
    for node in version.nodes:
        for index, rule in enumerate(listing(node.schema.get(_RULES))):
            uses = _uses_old_self(text(mapping(rule).get("rule")))
            path = (*node.path, _RULES, index)
            if uses and (outer := _uncorrelated(node)):
                message = f"rule {index + 1} of {node.field} uses oldSelf, which is not known within {outer}"
                yield Hit((*path, "rule"), message, node.field)
            elif uses is False and isinstance(mapping(rule).get("optionalOldSelf"), bool):
                message = f"rule {index + 1} of {node.field or 'the root'} has optionalOldSelf, but no oldSelf"
                yield Hit((*path, "optionalOldSelf"), message, node.field)


def _uses_old_self(rule: str) -> bool | None:
    """Whether the rule reads oldSelf; None where it can't be read."""
    if "oldSelf" not in rule:
        return False
    try:
        return "oldSelf" in variables(parse(rule))
    except SyntaxFault:
        return None


def _uncorrelated(node: Node) -> str:
    """Say in what the node stands whose parts the server can't find again in the old object; "" if in nothing such."""
    outermost = ""
    while node.parent is not None:
        parent = node.parent
        is_item = node.path[-1] == "items" and not node.name
        if is_item and parent.schema.get("x-kubernetes-list-type") != "map":
            outermost = f"the list {parent.field}, which is no list-map"
        elif node.name and parent.schema.get("x-kubernetes-map-type") not in (None, "atomic", "granular"):
            outermost = f"{parent.field}, which is merged in an unknown way"
        node = parent
    return outermost


_RULE = f"{_RULES}: [{{rule: self == oldSelf}}]"

RULE = Rule(
    id="CE05",
    name="oldself-scope",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=Version,
    what="oldSelf stands only in rules of values that can be told from the others, so not within the items of a list "
    "that is no list-map; and optionalOldSelf only beside oldSelf.",
    why="The API server refuses it otherwise: it does not know which item of the old list a new item was.",
    check=check,
    good=(
        spec(f"name: {{type: string, maxLength: 63, {_RULE}}}"),
        spec(
            "a: {type: object, x-kubernetes-map-type: atomic, "
            f"properties: {{b: {{type: string, maxLength: 63, {_RULE}}}}}}}"
        ),
        spec(
            "ports: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: "
            "{type: object, required: [name], properties: {name: {type: string, maxLength: 9}, "
            f"port: {{type: integer, {_RULE}}}}}}}}}"
        ),
        spec(
            f"name: {{type: string, maxLength: 63, {_RULES}: [{{rule: 'oldSelf.hasValue()', optionalOldSelf: true}}]}}"
        ),
    ),
    bad=(
        spec(f"names: {{type: array, maxItems: 9, items: {{type: string, maxLength: 63, {_RULE}}}}}"),
        spec(
            "names: {type: array, maxItems: 9, x-kubernetes-list-type: set, "
            f"items: {{type: string, maxLength: 63, {_RULE}}}}}"
        ),
        spec(f"name: {{type: string, maxLength: 63, {_RULES}: [{{rule: 'self != \"\"', optionalOldSelf: true}}]}}"),
    ),
    good_class=widget(
        '''
        zone: Annotated[str, MaxLen(63), CEL("self == oldSelf", message="zone can't change")]
        """Where it is."""
        '''
    ),
)
