"""Each example does what its own Makefile asks of it: its tests, and all checks at their strictest."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from examples.remake import EXAMPLES, Example

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)


def run(example: Example, *module: str) -> None:
    """Run a module in the example's folder, as its environment would; it must succeed."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment = {**inherited, "VIRTUAL_ENV": sys.prefix, "NO_COLOR": "1"}
    command = [sys.executable, "-m", *module]
    done = subprocess.run(
        command,
        cwd=example.root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(300)
@each_example
def test_its_own_tests_pass_and_prove_its_role(example: Example) -> None:
    """Its tests pass, under its generated role where they run it, which grants what they need and nothing else."""
    run(example, "pyopscaffold", "rbac", "verify", "--", "--quiet", "-p", "no:cacheprovider")


@each_example
def test_generated_files_are_up_to_date(example: Example) -> None:
    """``generate --check`` finds no drift."""
    run(example, "pyopscaffold", "generate", "--check")


@each_example
def test_its_design_is_clean(example: Example) -> None:
    """The strict profile finds nothing in CRDs and roles."""
    run(example, "pyopscaffold", "lint-crd", "--profile", "strict", "config/crd/bases", "config/rbac")


@each_example
def test_its_code_is_clean(example: Example) -> None:
    """Style, format and types pass by the project's own configuration."""
    run(example, "ruff", "check", "--quiet", "--no-cache", ".")
    run(example, "ruff", "format", "--quiet", "--no-cache", "--check", ".")
    run(example, "mypy", "--cache-dir", os.devnull)
