"""controller-gen, run on Go types that say the same, writes the same CRDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle import compare

if TYPE_CHECKING:
    from tests.oracle.compare import Documents


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Give controller-gen's documents by file name."""
    generators = ("crd:allowDangerousTypes=true", "rbac:roleName=manager-role", "webhook")
    return compare.theirs(tmp_path_factory.mktemp("acme"), ["./api/...", "./controllers/..."], *generators)


@pytest.fixture(scope="module")
def ours() -> Documents:
    """Give our documents by file name."""
    return compare.ours("acme")


@pytest.mark.parametrize("name", ["example.com_mydatabases.yaml", "example.com_gadgetry.yaml"])
def test_same_crd(theirs: Documents, ours: Documents, name: str) -> None:
    """A kind's CRD means what controller-gen's does: the design example, and a kind with every marker and type."""
    (their_crd,), (our_crd,) = theirs[name], ours[name]
    assert list(compare.differences(compare.comparable(their_crd), compare.comparable(our_crd))) == []


def test_same_files(theirs: Documents, ours: Documents) -> None:
    """The same kinds are found, and files named alike; we write roles for users besides."""
    kinds = {"CustomResourceDefinition", "ClusterRole", "MutatingWebhookConfiguration"}
    made = [name for name, documents in ours.items() if documents[0]["kind"] in kinds]
    assert sorted(name for name in made if not name.endswith("_role.yaml")) == sorted(theirs)


def test_same_rules(theirs: Documents, ours: Documents) -> None:
    """What @controller implies and @rbac asks for is merged and sorted as controller-gen does with markers."""
    roles = [[item for item in files["role.yaml"] if item["kind"] != "RoleBinding"] for files in (theirs, ours)]
    assert [role["kind"] for role in roles[1]] == [role["kind"] for role in roles[0]] == ["ClusterRole", "Role"]
    assert [role["rules"] for role in roles[1]] == [role["rules"] for role in roles[0]]


def test_same_webhooks(theirs: Documents, ours: Documents) -> None:
    """What the decorators of webhooks say is configured as markers do."""
    assert ours["manifests.yaml"] == theirs["manifests.yaml"]
