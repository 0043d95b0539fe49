"""What other projects' CI takes of this repository: the pre-commit hook, and the action for GitHub."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from pyopscaffold.cli.app import run
from pyopscaffold.lint.example import spec

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DIRTY = spec("name: {type: string}")
CLEAN = spec("size: {type: integer, description: Size.}")


def git(folder: Path, *args: str) -> None:
    """Run git as somebody."""
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give a clone of this repository, with what is in the work tree by now."""
    clone = tmp_path / "pyopscaffold"
    git(tmp_path, "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(clone))
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes((ROOT / name).read_bytes())
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "as it is")
    return clone


@pytest.mark.timeout(900)
def test_the_hook_works_from_a_clean_cache(repository: Path, tmp_path: Path) -> None:
    """pre-commit installs the hook from a clone alone, which finds a bad CRD and lets other YAML pass."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    (project / "other.yaml").write_text("a: 1\n")
    git(project, "add", "--all")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    command = [str(BIN / "pre-commit"), "try-repo", str(repository), "lint-crd", "--all-files", "--verbose"]

    def commit() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    other = commit()
    assert other.returncode == 0, other.stdout + other.stderr
    assert "0 CRDs in 1 file checked" in other.stdout
    (project / "crd.yaml").write_text(DIRTY)
    git(project, "add", "--all")
    bad = commit()
    assert bad.returncode == 1
    assert "crd.yaml:25:15 VA01 warning" in bad.stdout


def test_without_a_crd_is_fine_if_so_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--allow-empty is for the files of a commit, of which none need be a CRD."""
    (tmp_path / "x.yaml").write_text("a: 1\n")
    assert run(["lint-crd", str(tmp_path), "--allow-empty"]) == 0
    assert run(["lint-crd", str(tmp_path)]) == 2
    assert "no CRD found" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "inputs", "code", "shown"),
    [
        ({"crds/a b.yaml": CLEAN}, {"paths": "crds"}, 0, "1 CRD in 1 file checked by "),
        ({"crds/a.yaml": DIRTY}, {"paths": "crds"}, 1, "::warning file=crds/a.yaml,line=25,col=15,title=VA01::"),
        ({"a.yaml": DIRTY}, {"paths": ".", "args": "--select ST --fail-on error"}, 0, "1 CRD in 1 file checked by "),
        ({"a.yaml": DIRTY}, {"paths": "a.yaml\n$(touch gone)", "args": ""}, 2, ""),
    ],
)
def test_the_action_runs(tmp_path: Path, files: dict[str, str], inputs: dict[str, str], code: int, shown: str) -> None:
    """Its script gives annotations and SARIF, fails as the linter does, and takes no input for a command."""
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if step.get("name") == "Check"]
    given = {name: str(one["default"]) for name, one in action["inputs"].items()} | inputs | {"sarif": "out.sarif"}
    environment = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")] for name, value in step["env"].items()
    }
    (tmp_path / "temp/pyopscaffold").mkdir(parents=True)
    (tmp_path / "temp/pyopscaffold/bin").symlink_to(BIN)
    work = tmp_path / "work"
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=work,
        env={**os.environ, **environment, "RUNNER_TEMP": str(tmp_path / "temp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert shown in done.stdout
    assert (work / "out.sarif").exists() is (code < 2)
    assert not (work / "gone").exists()


def test_the_action_installs_from_its_own_tree() -> None:
    """Both distributions of the tree are installed, into an environment of their own."""
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = [step for step in action["runs"]["steps"] if step.get("name") == "Install"]
    assert '"$GITHUB_ACTION_PATH/runtime" "$GITHUB_ACTION_PATH"' in step["run"]
    assert all("${{" not in step.get("run", "") for step in action["runs"]["steps"])


def test_the_job_for_gitlab_runs(tmp_path: Path) -> None:
    """It installs our distributions from their places in the tree, and its command leaves the report that it names."""
    page = (ROOT / "docs" / "lint-crd.md").read_text()
    (job,) = [block for block in page.split("```") if block.startswith("yaml\nlint-crd:")]
    described = yaml.safe_load(job.removeprefix("yaml\n"))["lint-crd"]
    install, check = described["script"]
    source = described["variables"]["SOURCE"]
    wanted = [Requirement(part.replace("$SOURCE", source)) for part in shlex.split(install)[3:]]
    for requirement in wanted:
        folder = ROOT / (requirement.url or "").partition("#subdirectory=")[2]
        assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"] == requirement.name
    assert len(wanted) == 2
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "crd.yaml").write_text(DIRTY)
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    assert subprocess.run(["sh", "-c", check], cwd=tmp_path, env=environment, check=False).returncode == 1
    assert (tmp_path / described["artifacts"]["reports"]["codequality"]).is_file()
