"""SE01: roles name what they grant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import role
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(manifest: Manifest) -> Iterator[Hit]:
    """Report each ``*`` in a Role or ClusterRole."""
    for index, rule in enumerate(manifest.role_rules):
        for key in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
            for place, value in enumerate(listing(rule.get(key))):
                if isinstance(value, str) and "*" in value:
                    message = f"{manifest.kind} {manifest.name} grants {key} {value!r}: name what is needed"
                    yield Hit(("rules", index, key, place), message, f".rules[{index}].{key}")


RULE = Rule(
    id="SE01",
    name="rbac-wildcard",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Manifest,
    what="Roles have no wildcard in groups, resources, verbs or URLs.",
    why="A wildcard also grants what does not exist yet: new verbs such as escalate, new resources, secrets.",
    check=check,
    good=(role("{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch]}"),),
    bad=(
        role("{apiGroups: [apps], resources: [deployments], verbs: ['*']}"),
        role("{apiGroups: ['*'], resources: ['*/scale'], verbs: [get]}"),
        role("{nonResourceURLs: ['/metrics/*'], verbs: [get]}"),
    ),
)
