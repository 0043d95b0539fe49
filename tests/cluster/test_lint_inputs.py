"""lint-crd reads what kubectl makes of a folder, and the CRDs of a real API server."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml

from pyopscaffold.cli.app import run
from pyopscaffold.lint.example import spec
from pyopscaffold.testing import ControlPlane

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DIRTY = spec("name: {type: string}\nother: {type: string}")
LINE = DIRTY.splitlines().index("              name: {type: string}") + 1
FIELDS = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"
OVERLAY = f"""
resources: [../base]
patches:
- target: {{kind: CustomResourceDefinition}}
  patch: |-
    - {{op: add, path: {FIELDS}/more, value: {{type: string}}}}
    - {{op: add, path: {FIELDS}/other/maxLength, value: 9}}
"""
ROLE = """apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {name}, namespace: {namespace}}}
rules:
- {{apiGroups: [""], resources: [pods], resourceNames: [a], verbs: ["*"]}}
"""
CHECK = ("lint-crd", "--select", "ST01,VA01,LC", "-f", "github")


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Give a server of our own: the shared one has kinds of other tests."""
    with ControlPlane() as started:
        yield started


@pytest.fixture
def folder(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a working directory with a base and an overlay; kubectl is on PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{api_server.kubectl.parent}{os.pathsep}{os.environ['PATH']}")
    for name, text in (
        ("base/widgets.yaml", DIRTY),
        ("base/kustomization.yaml", "resources: [widgets.yaml]\n"),
        ("overlay/kustomization.yaml", OVERLAY),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_overlay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An overlay is checked as kubectl makes it: at the lines of its files, and what a patch adds in the result."""
    assert run((*CHECK, "overlay")) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if "VA01" in line]
    assert len(lines) == 2
    assert f"file=base/widgets.yaml,line={LINE},col=15," in lines[0]
    assert "file=overlay/kustomization.yaml (rendered),line=" in lines[1]
    assert ".spec.more" in lines[1]
    file = folder / "base" / "widgets.yaml"
    file.write_text(
        file.read_text().replace("name: {type: string}", "name: {type: string}  # lint-crd: ignore[VA] free")
    )
    assert run((*CHECK, "overlay")) == 1
    assert capsys.readouterr().out.count("::warning") == 1


def test_what_a_patch_takes_away(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What lacks a part since it was patched stands in the result: in the file that was patched, the part is there."""
    patch = f"[{{target: {{kind: CustomResourceDefinition}}, patch: '- {{op: remove, path: {FIELDS}/name/type}}'}}]"
    (folder / "overlay" / "kustomization.yaml").write_text(f"resources: [../base]\npatches: {patch}\n")
    assert run(("lint-crd", "--select", "ST06", "-f", "github", "overlay")) == 1
    assert "file=overlay/kustomization.yaml (rendered),line=" in capsys.readouterr().out


def test_names_and_namespaces_that_kustomize_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A role that gets a prefix stands at its own lines, and so does each of two with the same name."""
    roles = [ROLE.format(name=name, namespace=space) for name, space in (("r", "one"), ("r", "two"), ("r2", "one"))]
    (folder / "base" / "roles.yaml").write_text("---\n".join(roles))
    (folder / "base" / "kustomization.yaml").write_text("resources: [roles.yaml]\n")
    (folder / "overlay" / "kustomization.yaml").write_text("resources: [../base]\nnamePrefix: acme-\n")
    height = len(ROLE.splitlines()) + 1
    for path in ("base", "overlay"):
        assert run(("lint-crd", "--select", "SE01", "-f", "github", path)) == 1
        out = capsys.readouterr().out
        for first in range(0, 3 * height, height):
            assert f"file=base/roles.yaml,line={first + height - 1},col=68," in out


def test_tree_with_overlays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A kustomization that is come across in a tree is left alone: its files are checked as they are."""
    assert folder.is_dir()
    assert run((*CHECK, ".")) == 1
    out = capsys.readouterr().out
    assert out.count("file=base/widgets.yaml") == 2
    assert "rendered" not in out


def test_refused_by_kubectl(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A kustomization that can't be built is one finding in the words of kubectl; other paths are checked."""
    (folder / "overlay" / "kustomization.yaml").write_text("resources: [nowhere.yaml]\n")
    assert run((*CHECK, "overlay", "base/widgets.yaml")) == 1
    out = capsys.readouterr().out
    assert out.count("::error") == 1
    assert "nowhere.yaml" in out
    assert "file=overlay/kustomization.yaml,line=1" in out
    assert out.count("file=base/widgets.yaml") == 2


def test_cluster(
    server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CRDs of a cluster are checked as files are, by name; what the server keeps beside them is no fault."""
    server.client().apply(f"{CRDS}/widgets.example.com", yaml.safe_load(DIRTY))
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig()))
    monkeypatch.chdir(tmp_path)
    assert run((*CHECK, "--cluster")) == 1
    assert capsys.readouterr().out.count("file=cluster%3Awidgets.example.com,line=") == 2
    assert run(("lint-crd", "--profile", "apiserver", "--cluster")) == 0
    assert "1 CRD in 1 file" in capsys.readouterr().out
    assert run((*CHECK, "--cluster", "--context", "elsewhere")) == 2
    assert "elsewhere" in capsys.readouterr().err
    assert run((*CHECK, "--context", "elsewhere", ".")) == 2
    assert "add --cluster" in capsys.readouterr().err
