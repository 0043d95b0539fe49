from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.files.apply import apply
from pyopscaffold.scaffold.init import InitOptions, init

if TYPE_CHECKING:
    from pathlib import Path

WEB = ("create", "api", "--group", "shop", "--version", "v1", "--kind", "Web", "--image", "nginx:1.27")
MYDATABASE = ("create", "api", "--group", "db", "--version", "v1", "--kind", "MyDatabase")


class Folder:
    """A folder to work in, as the current one, and what the commands said there."""

    def __init__(self, path: Path, output: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self._output = output

    def run(self, *args: str, code: int = 0) -> str:
        """Run a command that must exit with ``code``; gives its output, errors first."""
        found = run(args)
        out, err = self._output.readouterr()
        assert found == code, err
        return err + out

    def files(self) -> dict[str, str]:
        """Return path → text of all files."""
        paths = sorted(path for path in self.path.rglob("*") if path.is_file())
        return {path.relative_to(self.path).as_posix(): path.read_text() for path in paths}

    def entries(self) -> set[str]:
        """Return the paths of all files and folders."""
        return {path.relative_to(self.path).as_posix() for path in self.path.rglob("*")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Folder:
    """Change into an empty folder."""
    path = tmp_path / "shop-operator"
    path.mkdir()
    monkeypatch.chdir(path)
    return Folder(path, capsys)


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a new project, to be copied."""
    path = tmp_path_factory.mktemp("pristine") / "shop-operator"
    apply(init(path, InitOptions(domain="example.com")).plan)
    return path


@pytest.fixture
def project(folder: Folder, pristine: Path) -> Folder:
    """Change into a new project."""
    shutil.copytree(pristine, folder.path, dirs_exist_ok=True)
    return folder
