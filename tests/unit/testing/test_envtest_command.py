from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.testing.binaries import DEFAULT, store
from tests.unit.testing.mirror import Mirror, programs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(cache: Path, mirror: Mirror, capsys: pytest.CaptureFixture[str]) -> Path:
    """Install the default version by the command itself."""
    mirror.publish(programs())
    assert run(["envtest", "setup", "--index", mirror.index]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{store.directory_of(DEFAULT)}\n"
    assert "downloading" in captured.err
    return store.directory_of(DEFAULT)


def test_setup_again_is_quick_and_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is here is not fetched again, and its folder is the only output."""
    assert run(["envtest", "setup"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{folder}\n"
    assert "downloading" not in captured.err


def test_path_is_for_a_shell_or_plain(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path comes as a line to evaluate, or alone."""
    assert run(["envtest", "path"]) == 0
    assert capsys.readouterr().out == f"export KUBEBUILDER_ASSETS={folder}\n"
    assert run(["envtest", "path", "-p", "--version", DEFAULT]) == 0
    assert capsys.readouterr().out == f"{folder}\n"


def test_list_in_json_has_every_pinned_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs read which versions are here and which could be."""
    assert run(["envtest", "list", "--output", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0] == {
        "version": DEFAULT,
        "installed": True,
        "directory": str(folder),
        "source": "archive",
        "simulated": False,
    }
    assert [row["version"] for row in rows[1:]] == ["1.36.3", "1.35.4"]
    assert not any(row["installed"] for row in rows[1:])


def test_list_for_people_marks_the_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """People see the default version, where it is and what is missing."""
    assert run(["envtest", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{DEFAULT} (default)  {folder} (from archive)"
    assert lines[1] == "1.36.3  not installed"


def test_clean_removes_one_version(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The named version goes, and a second time is an error."""
    assert run(["envtest", "clean", "--version", DEFAULT]) == 0
    assert not folder.exists()
    capsys.readouterr()
    assert run(["envtest", "clean", "--version", DEFAULT]) == 2
    assert f"error: Kubernetes {DEFAULT} is not in the cache" in capsys.readouterr().err


def test_clean_all_removes_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --all nothing is left."""
    assert run(["envtest", "clean", "--all"]) == 0
    assert not folder.exists()
    assert capsys.readouterr().out == f"removed {DEFAULT}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean"], "say what to remove"),
        (["clean", "--all", "--version", "1.36"], "say what to remove"),
        (["path", "-p", "-o", "json"], "exclude each other"),
        (["path"], "is not on this machine"),
        (["setup", "--version", "newest"], "'newest' is not a Kubernetes version"),
        (["setup"], "cannot get the control plane"),
        (["run", "--nodes", "2"], "a control plane alone has no nodes"),
        (["run", "--simulated"], "the simulated cluster of Kubernetes"),
    ],
)
def test_a_mistake_is_one_line_and_a_hint(
    cache: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    """Each mistake ends with exit code 2, what is wrong, and the way out."""
    assert run(["envtest", *arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-2].startswith("error: ")
    assert message in said[-2]
    assert said[-1].startswith("hint: ")
