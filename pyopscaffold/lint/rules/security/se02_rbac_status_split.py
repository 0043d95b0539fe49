"""SE02: the right to write a status stands alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import role
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

_STATUS = "/status"
_OF_STATUS = frozenset({"get", "update", "patch", "*"})
_WRITES = frozenset({"update", "patch"})


def check(manifest: Manifest) -> Iterator[Hit]:
    """Report rules that grant writes of a resource and of its status as one, or verbs that a status has not."""
    for index, rule in enumerate(manifest.role_rules):
        resources = [name for name in listing(rule.get("resources")) if isinstance(name, str)]
        verbs = [verb for verb in listing(rule.get("verbs")) if isinstance(verb, str)]
        ours = [name for name in resources if name.endswith(_STATUS)]
        both = [name for name in ours if name.removesuffix(_STATUS) in resources]
        field = f".rules[{index}]"
        if both and _WRITES.intersection(verbs):
            path = ("rules", index, "resources", resources.index(both[0]))
            message = (
                f"{manifest.kind} {manifest.name} grants writes of {both[0]} and of the spec in one rule: split it"
            )
            yield Hit(path, message, field)
        elif ours and not both and set(verbs) - _OF_STATUS:
            shown = ", ".join(sorted(set(verbs) - _OF_STATUS))
            message = (
                f"{manifest.kind} {manifest.name} grants {shown} of {ours[0]}, which has get, update and patch only"
            )
            yield Hit(("rules", index, "verbs"), message, field)


RULE = Rule(
    id="SE02",
    name="rbac-status-split",
    severity=Severity.WARNING,
    profile=Profile.CHECKLIST,
    subject=Manifest,
    what="A resource's status is granted by a rule of its own, with no verbs but get, update and patch.",
    why="A controller that writes the status has no need to write the spec. In one rule it gets both, and nobody sees "
    "which of them it uses.",
    check=check,
    good=(
        role(
            "{apiGroups: [example.com], resources: [widgets], verbs: [get, list, watch]}",
            "{apiGroups: [example.com], resources: [widgets/status], verbs: [update, patch]}",
        ),
        role("{apiGroups: [example.com], resources: [widgets, widgets/status], verbs: [get]}"),
    ),
    bad=(
        role("{apiGroups: [example.com], resources: [widgets, widgets/status], verbs: [get, update, patch]}"),
        role("{apiGroups: [example.com], resources: [widgets/status], verbs: [create, delete, update]}"),
    ),
)
