"""controller-gen, run on Go types that say the same, writes the same CRDs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyopscaffold.generate import crd, rbac
from pyopscaffold.loader import source
from pyopscaffold.model.project import Project
from tests.tools_path import tool

DATA = Path(__file__).with_name("testdata")
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")

OURS_TO_WORD = ("apiVersion", "kind", "metadata", "conditions")
"""Fields whose descriptions are Kubernetes' own words there and ours here."""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give controller-gen's documents by file name."""
    folder = tmp_path_factory.mktemp("controller-gen")
    options = ["crd:allowDangerousTypes=true", "rbac:roleName=manager-role", "paths=./...", f"output:dir={folder}"]
    subprocess.run([tool("controller-gen"), *options], cwd=DATA / "go", check=True)
    return {path.name: list(yaml.safe_load_all(path.read_text())) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    """Give our documents by file name."""
    model = source.read(DATA / "python", "acme", python=sys.executable)
    made = (*crd.artefacts(model, PROJECT), *rbac.artefacts(model, PROJECT))
    return {Path(item.path).name: list(yaml.safe_load_all(item.text)) for item in made}


@pytest.mark.parametrize("name", ["example.com_mydatabases.yaml", "example.com_gadgetry.yaml"])
def test_same_crd(theirs: dict[str, Any], ours: dict[str, Any], name: str) -> None:
    """A kind's CRD means what controller-gen's does: the design example, and a kind with every marker and type."""
    (their_crd,), (our_crd,) = theirs[name], ours[name]
    del their_crd["metadata"]["annotations"]
    assert _without_their_words(our_crd) == _without_their_words(their_crd)


def test_same_files(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """The same kinds are found, and files named alike; we write roles for users besides."""
    assert sorted(name for name in ours if not name.endswith("_role.yaml")) == sorted(theirs)


def test_same_rules(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """What @controller implies and @rbac asks for is merged and sorted as controller-gen does with markers."""
    roles = [[item for item in files["role.yaml"] if item["kind"] != "RoleBinding"] for files in (theirs, ours)]
    assert [role["kind"] for role in roles[1]] == [role["kind"] for role in roles[0]] == ["ClusterRole", "Role"]
    assert [role["rules"] for role in roles[1]] == [role["rules"] for role in roles[0]]


def _without_their_words(crd: dict[str, Any]) -> dict[str, Any]:
    for version in crd["spec"]["versions"]:
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        status = properties.get("status", {}).get("properties", {})
        for name in OURS_TO_WORD:
            _drop_descriptions({**status, **properties}.get(name))
    return crd


def _drop_descriptions(node: Any) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("description"), str):
            del node["description"]
        for child in node.values():
            _drop_descriptions(child)
