"""What ``tenants=`` of @controller may say, and which permissions come of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import DeclarationError
from pyopscaffold.loader import source
from tests.unit.loader.projects import IMPORTS, make

if TYPE_CHECKING:
    from pathlib import Path

THING = '''
CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")

@resource(group="example.com", version="v1", {scope})
@dataclass(kw_only=True)
class Thing(Object):
    """A thing."""

@controller(Thing, {arguments})
class Reconciler:
    async def reconcile(self, ctx, thing): ...
'''


def project(root: Path, arguments: str, *, scope: str = "") -> Path:
    """Write a project with one controller."""
    return make(root, {"api/kind.py": IMPORTS + THING.format(arguments=arguments, scope=scope)})


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ('"settings"', "tenants is to be TenantConfig, not 'settings'"),
        ('TenantConfig(name="My Settings")', 'names the ConfigMap "My Settings", which is not in lower-case'),
        ("TenantConfig(name=5)", "name is to be a text, not 5"),
        ('TenantConfig(name="x", shared_from="platform")', "shared_from is to be a list, not 'platform'; write"),
        ('TenantConfig(name="x", shared_from=["a b"])', 'names the namespace "a b"'),
        ('TenantConfig(name="x", override_from="A")', 'names the namespace "A"'),
        ('TenantConfig(name="x", label="a b", shared_from=["a"])', '"a b" is no key of a label'),
        ('TenantConfig(name="x", shared_from=["a"], override_from="b")', "they are two policies"),
    ],
)
def test_what_cannot_be(tmp_path: Path, tenants: str, message: str) -> None:
    """A policy that can't be is refused where it is declared."""
    with pytest.raises(DeclarationError) as caught:
        source.read(project(tmp_path, f"tenants={tenants}"), "acme", python=sys.executable)
    assert "@controller: " in str(caught.value)
    assert message in str(caught.value)


def test_kind_without_namespaces(tmp_path: Path) -> None:
    """An object that is in no namespace is no tenant's."""
    root = project(tmp_path, 'tenants=TenantConfig(name="x")', scope='scope="Cluster"')
    with pytest.raises(DeclarationError, match="tenants= is for objects in namespaces"):
        source.read(root, "acme", python=sys.executable)


@pytest.mark.parametrize(
    ("arguments", "granted"),
    [
        ('tenants=TenantConfig(name="x")', [("", "configmaps", "x")]),
        ('owns=[CONFIG_MAP], tenants=TenantConfig(name="x")', []),
        ('tenants=TenantConfig(name="x", shared_from=["a"])', [("", "namespaces", ""), ("a", "configmaps", "")]),
        (
            'tenants=TenantConfig(name="x", override_from="a")',
            [("", "configmaps", "x"), ("a", "configmaps", "x-override")],
        ),
    ],
)
def test_permissions(tmp_path: Path, arguments: str, granted: list[tuple[str, str, str]]) -> None:
    """Each policy takes list and watch of what it reads, by name or namespace, unless that is granted anyway."""
    (found,) = source.read(project(tmp_path, arguments), "acme", python=sys.executable).controllers
    assert [(rule.namespace, *rule.resources, "".join(rule.resource_names)) for rule in found.rbac] == granted
    assert {rule.verbs for rule in found.rbac} <= {("list", "watch")}


def test_labels_of_namespaces_in_a_namespaced_project(tmp_path: Path) -> None:
    """A Role can't let list namespaces, so that policy is refused; by name it works."""
    root = project(tmp_path, 'tenants=TenantConfig(name="x", shared_from=["a"])')
    with pytest.raises(DeclarationError, match="@controller: a project made with --namespaced can't list namespaces"):
        source.read(root, "acme", python=sys.executable, namespaced=True)
    project(tmp_path, 'tenants=TenantConfig(name="x", override_from="a")')
    assert source.read(tmp_path, "acme", python=sys.executable, namespaced=True).controllers
