"""SE01: roles name what they grant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import listing, mapping
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUP = "rbac.authorization.k8s.io/"


def check(manifest: Manifest) -> Iterator[Hit]:
    """Report each ``*`` in a Role or ClusterRole."""
    if manifest.kind not in ("Role", "ClusterRole") or not manifest.api_version.startswith(_GROUP):
        return
    for index, rule in enumerate(listing(manifest.data.get("rules"))):
        for key in ("apiGroups", "resources", "verbs", "nonResourceURLs"):
            for place, value in enumerate(listing(mapping(rule).get(key))):
                if isinstance(value, str) and "*" in value:
                    message = f"{manifest.kind} {manifest.name} grants {key} {value!r}: name what is needed"
                    yield Hit(("rules", index, key, place), message, f".rules[{index}].{key}")


def _role(rule: str) -> str:
    return (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: manager}}\nrules:\n- {rule}\n"
    )


RULE = Rule(
    id="SE01",
    name="rbac-wildcard",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Manifest,
    what="Roles have no wildcard in groups, resources, verbs or URLs.",
    why="A wildcard also grants what does not exist yet: new verbs such as escalate, new resources, secrets.",
    check=check,
    good=(_role("{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch]}"),),
    bad=(
        _role("{apiGroups: [apps], resources: [deployments], verbs: ['*']}"),
        _role("{apiGroups: ['*'], resources: ['*/scale'], verbs: [get]}"),
        _role("{nonResourceURLs: ['/metrics/*'], verbs: [get]}"),
    ),
)
