from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def make(*arguments: str, cwd: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run make, with another PATH if asked; variables of a make that started the tests are not passed on."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = [shutil.which("make") or "make", *arguments]
    if path is not None:
        environment["PATH"] = path
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a folder with the Makefile and what `make setup` looks at."""
    files = ["Makefile", "pyproject.toml", "hatch_build.py", "requirements/dev.txt", "runtime/pyproject.toml"]
    for name in [
        *files,
        "runtime/hatch_build.py",
        "pyopscaffold/__init__.py",
        "tests/tools/go.mod",
        "tests/tools/go.sum",
    ]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def stamp(folder: Path) -> None:
    """Leave the marks of a finished `make setup`."""
    (folder / ".venv").mkdir()
    for name in (".made", ".locked", ".installed"):
        (folder / ".venv" / name).touch()


def test_help_lists_the_targets(copy: Path) -> None:
    """`make` alone says what there is."""
    shown = make(cwd=copy).stdout

    shown_targets = [line.split()[0] for line in shown.splitlines()]
    assert shown_targets[:5] == ["help", "setup", "tools", "lock", "test"]
    assert {"lint", "fmt", "typecheck", "bench", "demo", "dist", "clean"} < set(shown_targets)


def test_a_python_that_is_too_old_is_named(copy: Path) -> None:
    """Where no Python fits, one message says which is needed and how to name one; nothing is made."""
    old = copy / "old-python"
    old.write_text('#!/bin/sh\ntest "$1" = --version && echo "Python 3.9.2" && exit\nexit 1\n', encoding="utf-8")
    old.chmod(0o755)

    done = make("setup", f"PYTHON={old}", cwd=copy)

    assert done.returncode == 2
    assert "needs Python 3.11 or newer with venv; found: Python 3.9.2." in done.stderr
    assert not (copy / ".venv").exists()


def test_setup_is_done_once(copy: Path) -> None:
    """With its stamps in place `make setup` does nothing; a new lock makes it install again."""
    stamp(copy)
    assert make("--question", "setup", cwd=copy).returncode == 0

    lock = copy / "requirements" / "dev.txt"
    later = (copy / ".venv" / ".installed").stat().st_mtime + 5
    os.utime(lock, (later, later))

    assert "--require-hashes" in make("--dry-run", "setup", f"PYTHON={sys.executable}", cwd=copy).stdout


def test_without_go_the_oracles_are_missed_by_name(copy: Path) -> None:
    """Where there is no Go, `make tools` says what it is needed for, and where to get it."""
    stamp(copy)

    done = make("tools", cwd=copy, path=str(copy))

    assert done.returncode == 2
    assert "The tests need Go, to build helm: https://go.dev/dl" in done.stderr


def test_ci_runs_the_command_of_the_readme() -> None:
    """CI checks what a newcomer is told to type."""
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
