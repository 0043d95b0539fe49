"""The workflows and the development container of a made project."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.helm.projects import made

WORKFLOWS = ("chart", "lint", "release", "test")


@pytest.fixture(scope="module")
def tree() -> dict[str, str]:
    """Give path → text of a made project."""
    return made()


@pytest.fixture(scope="module")
def steps(tree: dict[str, str]) -> list[dict[str, Any]]:
    """Give the steps of all workflows."""
    workflows = [yaml.safe_load(tree[f".github/workflows/{name}.yml"]) for name in WORKFLOWS]
    return [step for workflow in workflows for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflow_may_only_read_and_ends(tree: dict[str, str], name: str) -> None:
    """The token reads contents unless a job says why it needs more, and no job can hang for hours."""
    workflow = yaml.safe_load(tree[f".github/workflows/{name}.yml"])
    assert workflow["permissions"] == {"contents": "read"}
    assert [job for job in workflow["jobs"].values() if "timeout-minutes" not in job] == []
    assert {job["permissions"]["contents"] for job in workflow["jobs"].values() if "permissions" in job} <= {"write"}


def test_only_targets_that_the_makefile_has(tree: dict[str, str], steps: list[dict[str, Any]]) -> None:
    """Each `make …` of a workflow is a target of the project."""
    called = {target for step in steps for target in re.findall(r"^make ([\w-]+)", step.get("run", ""), re.MULTILINE)}
    assert called == {"lint", "test"}
    assert called <= set(re.findall(r"^([\w-]+):", tree["Makefile"], re.MULTILINE))


def test_only_folders_that_the_project_has(tree: dict[str, str], steps: list[dict[str, Any]]) -> None:
    """Charts and kustomizations that a workflow names are there."""
    named = {path for step in steps for path in re.findall(r"(?:charts|config)/[\w-]+", step.get("run", ""))}
    assert named >= {"charts/shop-operator", "config/default"}
    assert [path for path in named if not any(file.startswith(f"{path}/") for file in tree)] == []


def test_actions_are_pinned_and_leave_no_token(steps: list[dict[str, Any]]) -> None:
    """Each action has a version, and a checkout keeps no credentials for the steps after it."""
    used = [step for step in steps if "uses" in step]
    assert [step["uses"] for step in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])] == []
    checkouts = [step for step in used if step["uses"].startswith("actions/checkout@")]
    assert len(checkouts) == len(WORKFLOWS)
    assert {step["with"]["persist-credentials"] for step in checkouts} == {False}


def test_expressions_never_reach_a_shell(steps: list[dict[str, Any]]) -> None:
    """A value of the event gets into a script by the environment, so that it can't be code."""
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []


def test_development_container_has_docker_and_the_project(tree: dict[str, str]) -> None:
    """The container has an engine for `make docker-build`, and the locked environment."""
    container = json.loads(tree[".devcontainer/devcontainer.json"])
    assert any("docker-in-docker" in feature for feature in container["features"])
    assert "uv sync" in container["postCreateCommand"]
