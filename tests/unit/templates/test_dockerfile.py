"""The image of a made project."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from pyopscaffold.scaffold.render import render

PROJECT = {
    "domain": "example.com",
    "name": "shop-operator",
    "package": "shop_operator",
    "image": "example/shop-operator",
    "cli_version": "0.1.0",
    "multigroup": False,
    "namespaced": False,
}


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """Give a made project's files: path → text."""
    values = {"project": PROJECT, "spdx": "Apache-2.0", "versions": ">=0.1,<0.2", "sources": {}}
    return {artefact.path: artefact.text for artefact in render("project", values)}


@pytest.fixture(scope="module")
def instructions(files: dict[str, str]) -> list[tuple[str, str]]:
    """Give keyword and arguments of the Dockerfile's instructions."""
    lines = re.findall(r"^([A-Z]+) (.+)$", files["Dockerfile"], re.MULTILINE)
    assert lines[0][0] == "FROM"
    return lines


def test_hadolint_is_content(files: dict[str, str], tmp_path: Path) -> None:
    """The linter for Dockerfiles has nothing to say."""
    dockerfile = tmp_path / "Dockerfile"
    dockerfile.write_text(files["Dockerfile"])
    hadolint = Path(sys.executable).with_name("hadolint")
    run = subprocess.run([hadolint, "--no-color", dockerfile], capture_output=True, text=True, check=False)
    assert (run.stdout + run.stderr, run.returncode) == ("", 0)


def test_image_runs_the_package_as_an_ordinary_user(instructions: list[tuple[str, str]]) -> None:
    """The last stage ends in a numeric user that is not root, and starts Python itself, which then gets SIGTERM."""
    last = dict(instructions)
    assert last["USER"] == "65532:65532"
    assert json.loads(last["ENTRYPOINT"]) == ["python", "-m", "shop_operator"]


def test_build_context_has_what_is_copied(files: dict[str, str], instructions: list[tuple[str, str]]) -> None:
    """.dockerignore lets in exactly what COPY takes from the folder."""
    taken = [rest.split()[:-1] for keyword, rest in instructions if keyword == "COPY" and "--from" not in rest]
    allowed = [line[1:] for line in files[".dockerignore"].splitlines() if line.startswith("!")]
    assert "*" in files[".dockerignore"].splitlines()
    assert sorted(allowed) == sorted(chain.from_iterable(taken))


def test_steps_can_be_replayed_without_docker(instructions: list[tuple[str, str]]) -> None:
    """RUN lines are plain commands: no mounts, no build arguments, nothing that only an image has."""
    commands = [rest for keyword, rest in instructions if keyword == "RUN"]
    assert any("uv sync --locked" in command for command in commands)
    assert [command for command in commands if re.search(r"--mount|--network|\$\{?\w|/app", command)] == []
    assert "ARG" not in dict(instructions)
