"""What a project's manifests grant, and whose requests count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.generate.rbac import PolicyRule
from pyopscaffold.testing.proof import read
from pyopscaffold.testing.rbac import compare, permissions
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "mydatabase"

ROLES = """
kind: Role
rules:
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [one]
  verbs: [get]
---
kind: RoleBinding
---
kind: Role
rules:
- nonResourceURLs: [/metrics]
  verbs: [get]
"""


def test_every_role_of_the_file_counts(tmp_path: Path) -> None:
    """The rules of all roles are read, with names and URLs; bindings have none."""
    (tmp_path / "config/rbac").mkdir(parents=True)
    (tmp_path / "config/rbac/role.yaml").write_text(ROLES)
    assert read(tmp_path).granted == (
        PolicyRule(groups=("",), names=("one",), resources=("secrets",), verbs=("get",)),
        PolicyRule(urls=("/metrics",), verbs=("get",)),
    )


def test_the_example() -> None:
    """The lease is the affair of another role; the plural of a kind is its CRD's."""
    roles = read(EXAMPLE)
    assert roles.plurals[("example.com", "MyDatabase")] == "mydatabases"
    assert compare(roles.granted, []).least == ()
    assert "patch leases.coordination.k8s.io" in [
        str(one).removesuffix(f" {one.name}") for one in permissions(roles.elsewhere)
    ]
    assert not [one for one in permissions(roles.granted) if one.resource == "leases"]
