"""Each example is a project that its user keeps in order: style, types and tests of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted(file.parent for file in (ROOT / "examples").glob("*/PROJECT"))
COMMANDS = (
    ("ruff", "check", "--no-cache", "."),
    ("ruff", "format", "--no-cache", "--check", "."),
    ("mypy", "--cache-dir", os.devnull),
    ("pytest", "-p", "no:cacheprovider"),
)


def test_there_are_examples() -> None:
    """The one that the documentation speaks of is among them."""
    assert "mydatabase" in [example.name for example in EXAMPLES]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_it_is_in_order(example: Path, command: tuple[str, ...]) -> None:
    """What the targets lint and test of the project's Makefile run finds nothing."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=example, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
