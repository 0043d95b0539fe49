"""ST11: the spec does not say what was seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.names import last_word
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEEN = re.compile(
    r"status|observed[A-Z]\w*|last(Transition|Update|Probe|Sync|Reconcile|Seen)Time"
    r"|(ready|available|unavailable|current|updated)Replicas"
)
_FILTERS = frozenset({"filter", "filters", "match", "matches", "selector", "selectors"})


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own fields in spec that are named as a status is."""
    for node in version.own("spec"):
        if node.name and ((_SEEN.fullmatch(node.name) and not _chooses(node)) or _is_conditions(node)):
            message = f"{node.field} reads as what was seen: it belongs in status, or needs the name of what is wanted"
            yield Hit(node.path, message, node.field)


def _chooses(node: Node) -> bool:
    """Whether a status is one of given values that a user picks, as in a filter."""
    return "enum" in node.schema or (node.parent is not None and last_word(node.parent.holder.name) in _FILTERS)


def _is_conditions(node: Node) -> bool:
    items = node.items if node.name == "conditions" else None
    return items is not None and {"type", "status", "lastTransitionTime"} <= items.properties.keys()


RULE = Rule(
    id="ST11",
    name="spec-observed-state",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="The spec has no status, conditions, ready counts or times of observation.",
    why="A spec is what its author wants. A controller that writes into it fights with GitOps tools, raises "
    "metadata.generation with each look, and needs the right to change what users asked for.",
    check=check,
    good=(
        spec("replicas: {type: integer}"),
        spec("on: {type: object, properties: {status: {enum: [Open], type: string}}}"),
        spec("filters: {type: array, items: {type: object, properties: {status: {type: string}}}}"),
    ),
    bad=(
        spec("readyReplicas: {type: integer}"),
        spec("status: {type: object, properties: {phase: {type: string}}}"),
        spec("backup: {type: object, properties: {lastSyncTime: {type: string, format: date-time}}}"),
    ),
    good_class=widget(),
    bad_class=widget(
        '''
        ready_replicas: int32 = 0
        """Number of pods that serve."""
        '''
    ),
)
