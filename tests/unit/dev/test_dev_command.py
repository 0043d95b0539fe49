from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli import app
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "examples" / "mydatabase"


def test_outside_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user is told that this folder is no project."""
    monkeypatch.chdir(tmp_path)
    assert app.run(["dev"]) == 2
    assert "is not inside a project" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kubeconfig", "not-there", "--yes"], "error: the kubeconfig not-there can't be read: No such file"),
        (["--kubeconfig", "x", "--fresh"], "error: --fresh and --nodes are about the embedded cluster"),
        (["--context", "x", "--nodes", "2"], "error: --fresh and --nodes are about the embedded cluster"),
        (["--nodes", "-1"], "-1"),
        ([], "is not on this machine"),
        (["--python", "/not/there"], "error: --python /not/there is no program"),
    ],
)
def test_wrong_inputs(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What can't work ends with exit code 2 and one clear message before anything is started."""
    monkeypatch.chdir(EXAMPLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    assert app.run(["dev", *arguments]) == 2
    assert said in capsys.readouterr().err
