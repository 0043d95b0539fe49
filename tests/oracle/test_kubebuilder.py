"""What the strict rules find in kubebuilder's own scaffold, made by kubebuilder itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.loader.manifests import load_sources
from tests.oracle.compare import DATA
from tests.tools_path import tool

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Report

PAGE = Path(__file__).parents[2] / "docs" / "lint-precision.md"
INIT = ("init", "--fetch-deps=false", "--domain", "example.com", "--repo", "example.com/operator")
CREATE = (
    *("create", "api", "--group", "shop", "--version", "v1", "--kind", "Web"),
    *("--resource", "--controller", "--make=false"),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Make the project, and its CRD by controller-gen with the Go modules that the other oracles have."""
    project = tmp_path_factory.mktemp("kubebuilder")
    for command in (INIT, CREATE):
        environment = {**os.environ, "GOFLAGS": "-mod=mod"}
        subprocess.run([tool("kubebuilder"), *command], cwd=project, env=environment, check=True, capture_output=True)
    for name in ("go.mod", "go.sum"):
        shutil.copy(DATA / "go" / name, project / "api" / name)
    output = f"output:dir={project}/config/crd/bases"
    subprocess.run([tool("controller-gen"), "crd", "paths=./...", output], cwd=project / "api", check=True)
    return lint(load_sources([str(project / "config")]), builtin().choose(profile=Profile.STRICT))


def test_what_is_found_stands_in_the_docs(report: Report) -> None:
    """The page has a row for each finding, and no other; our own scaffold has none."""
    rows = [
        f"| {finding.rule} | {finding.severity} | {Path(finding.file).name} | {finding.message} |"
        for finding in report.findings
    ]
    shown = PAGE.read_text(encoding="utf-8").partition("<!-- kubebuilder -->\n")[2].partition("<!-- end -->")[0]
    assert report.crds == 1
    assert rows == shown.splitlines()[2:]
