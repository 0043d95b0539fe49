from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tools_path import ROOT

UV = Path(sys.executable).with_name("uv")
PROJECTS = {"pyopscaffold_runtime": ROOT / "runtime", "pyopscaffold": ROOT}


@dataclass(frozen=True)
class Built:
    """The distributions in one folder."""

    folder: Path

    def wheel(self, name: str) -> Path:
        """Path of the wheel of ``name``."""
        return self._only(f"{name}-*.whl")

    def sdist(self, name: str) -> Path:
        """Path of the sdist of ``name``."""
        return self._only(f"{name}-*.tar.gz")

    def _only(self, pattern: str) -> Path:
        (path,) = self.folder.glob(pattern)
        return path


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a program that must succeed; give its standard output."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def build(project: Path, into: Path, *what: str) -> None:
    """Build ``--sdist``, ``--wheel`` or, with nothing said, the sdist and from it the wheel."""
    run(sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", into, project)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both sdists, and the wheels built from them."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS.values():
        build(project, folder)
    return Built(folder)


@pytest.fixture(scope="session")
def built_from_tree(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both wheels, built from the tree without an sdist between."""
    folder = tmp_path_factory.mktemp("from-tree")
    for project in PROJECTS.values():
        build(project, folder, "--wheel")
    return Built(folder)


@dataclass(frozen=True)
class Environment:
    """A virtual environment without anything of ours, until it is installed."""

    folder: Path

    def install(self, *what: str | Path) -> None:
        """Install by uv, at the locked versions."""
        constraints = ROOT / "requirements" / "dev.txt"
        run(UV, "pip", "install", "--quiet", "--python", self.python, "--constraint", constraints, *what)

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def evaluate(self, code: str) -> str:
        """Run ``code`` away from the repository, so that only what is installed can be imported."""
        return run(self.python, "-I", "-W", "error", "-c", code, cwd=self.folder).strip()


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """Give an empty environment of this Python."""
    folder = tmp_path / "venv"
    run(UV, "venv", "--quiet", "--seed", "--python", sys.executable, folder)
    return Environment(folder)
