"""What we make has no finding by the strictest set of rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.loader.manifests import load_sources
from tests.scaffold.conftest import WEB

if TYPE_CHECKING:
    from tests.scaffold.conftest import Folder

EXAMPLES = sorted(path.name for path in (Path(__file__).parents[2] / "examples").iterdir() if path.is_dir())
BARE = ("create", "api", "--group", "shop", "--version", "v1", "--kind", "WarehouseInventory", "--cluster")


def findings(folder: Path, crds: int) -> list[str]:
    """Lint a project's YAML, its roles included, by all rules but the opt-in ones."""
    report = lint(load_sources([str(folder / "config")]), builtin().choose(profile=Profile.STRICT))
    assert report.crds == crds
    return [f"{finding.file}:{finding.line} {finding.rule} {finding.message}" for finding in report.findings]


def test_a_new_project_is_clean(project: Folder) -> None:
    """Of an operator that runs an image, of one that starts bare, and of their roles."""
    for command in (WEB, BARE):
        project.run(*command)
    project.run("generate")
    assert findings(project.path, crds=2) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_clean(example: str) -> None:
    """Of each operator in examples/, as it is generated and edited."""
    assert findings(Path(__file__).parents[2] / "examples" / example, crds=1) == []
