"""Made projects on disk, and the programs that render them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.helm.projects import PROJECT, made, write
from tests.tools_path import tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Manifests = list[dict[str, Any]]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a made project with one API."""
    return write(made(), tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def namespaced_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a project made with --namespaced."""
    return write(made(project=replace(PROJECT, namespaced=True)), tmp_path_factory.mktemp("namespaced"))


@pytest.fixture(scope="session")
def chart(project: Path) -> Path:
    """Give the chart's folder in the made project."""
    return project / "charts" / PROJECT.name


@pytest.fixture(scope="session")
def helm() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Give a function that runs helm and, unless told otherwise, demands that it succeeds."""
    program = tool("helm")

    def run(*arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 0 or not check, result.stderr
        return result

    return run


@pytest.fixture(scope="session")
def template(helm: Callable[..., subprocess.CompletedProcess[str]], chart: Path) -> Callable[..., Manifests]:
    """Give a function that renders the chart with some values, as release ``rel`` in namespace ``ns``."""

    def render(values: dict[str, Any] | None = None, *, of: Path = chart) -> Manifests:
        flags = [f"--set-json={key}={json.dumps(value)}" for key, value in (values or {}).items()]
        text = helm("template", "rel", of, "--namespace=ns", *flags).stdout
        return [document for document in yaml.safe_load_all(text) if document]

    return render
