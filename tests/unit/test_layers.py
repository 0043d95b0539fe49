from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools_path import ROOT


def test_layers_hold() -> None:
    """No module imports from a layer above its own, as pyproject.toml's contracts draw them."""
    command = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stdout


def loaded_by(module: str) -> set[str]:
    """Top-level names of what a fresh interpreter has loaded after importing ``module``."""
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("module", ["pyopscaffold.api", "pyopscaffold.runtime", "pyopscaffold.testing.plugin"])
def test_import_stays_light(module: str) -> None:
    """Reading a project's declarations, or starting pytest, loads no HTTP client and nothing of the command line."""
    assert not loaded_by(module) & {"aiohttp", "copier", "cryptography", "jinja2", "rich", "ruamel", "typer"}


def test_command_line_stays_light() -> None:
    """`--help` waits for typer alone: copier, aiohttp and rich load in the commands that use them."""
    assert not loaded_by("pyopscaffold.cli.app") & {"aiohttp", "copier", "cryptography", "jinja2", "rich", "ruamel"}
