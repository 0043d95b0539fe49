"""CE04: what can't be changed can't be taken away and set anew."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.celnames import escape_field
from pyopscaffold.kube.values import listing, mapping, text
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = "x-kubernetes-validations"


def check(version: Version) -> Iterator[Hit]:
    """Report immutable fields that are optional, or stand in an optional object, without a rule above that holds them.

    A rule with oldSelf runs where the value is there before and after. In two steps, one that removes the field and
    one that sets it, it never runs.
    """
    for node in version.own("spec"):
        for index, rule in enumerate(listing(node.schema.get(_KEY))):
            rule = mapping(rule)  # noqa: PLW2901 - the rule, or none where it is no mapping
            if not _is_immutable(text(rule.get("rule"))) or rule.get("optionalOldSelf"):
                continue
            loose = _loose(node)
            if loose is not None:
                name = escape_field(loose.name)
                message = (
                    f"{node.field} can't be changed, but {loose.field} can be removed and set anew: "
                    f"add a rule to the object around it, has(self.{name}) == has(oldSelf.{name})"
                )
                yield Hit((*node.path, _KEY, index), message, node.field)


def _is_immutable(rule: str) -> bool:
    return "".join(rule.split()).strip("()") in {"self==oldSelf", "oldSelf==self"}


def _loose(node: Node) -> Node | None:
    """Give the first field, from the node up to its list item, that can be removed."""
    while node.name and node.parent is not None and node.depth > 1:
        if not node.is_required and not node.has_default and not _is_held(node):
            return node
        node = node.parent
    return None


def _is_held(node: Node) -> bool:
    """Whether a rule further up speaks of the field's presence before and after: has(self.zone), or self.?zone."""
    named = re.compile(rf"(has\([\w.]*\.|\.\?){re.escape(escape_field(node.name))}\b")
    above = node.parent
    while above is not None:
        if any(_is_immutable(rule) or ("oldSelf" in rule and named.search(rule)) for rule in above.rules):
            return True
        above = above.parent
    return False


_RULE = "x-kubernetes-validations: [{rule: self == oldSelf, message: zone can't change}]"
_ZONE = f"zone: {{type: string, maxLength: 63, {_RULE}}}"

RULE = Rule(
    id="CE04",
    name="immutable-bypass",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A field with the rule self == oldSelf is required, or a rule of the object around it holds its presence.",
    why="The rule runs only where the field is there before and after an update. One update that removes it and one "
    "that sets another value get around it.",
    check=check,
    good=(
        spec(_ZONE) + "            required: [zone]\n",
        spec(
            f"place: {{type: object, properties: {{{_ZONE.replace('zone:', 'namespace:')}}}, x-kubernetes-validations: "
            "[{rule: self.?__namespace__.hasValue() == oldSelf.?__namespace__.hasValue(), message: it stays}]}"
        )
        + "            required: [place]\n",
        spec(
            f"place: {{type: object, properties: {{{_ZONE}}}, x-kubernetes-validations: "
            "[{rule: has(self.zone) == has(oldSelf.zone), message: zone can't come or go}]}"
        )
        + "            required: [place]\n",
    ),
    bad=(
        spec(_ZONE),
        spec(_ZONE.replace("self == oldSelf", "(oldSelf == self)")),
        spec(f"place: {{type: object, required: [zone], properties: {{{_ZONE}}}}}"),
    ),
    good_class=widget(
        '''
        zone: Annotated[str, MaxLen(63), Immutable()]
        """Where it runs."""
        '''
    ),
    bad_class=widget(
        '''
        zone: Annotated[str, MaxLen(63), CEL("self == oldSelf", message="zone can't change")] | None = None
        """Where it runs."""
        '''
    ),
)
