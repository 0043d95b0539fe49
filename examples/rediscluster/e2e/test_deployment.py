"""The deployed operator, in the cluster of the current kubeconfig context (`make test-e2e IMG=…`).

The cluster must be able to pull IMG. What is deployed is removed again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "rediscluster-system"


def run(*command: str) -> str:
    """Run a command that must succeed; gives its output."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture(scope="module")
def deployed() -> Iterator[None]:
    """Deploy the operator, and remove it afterwards."""
    run("make", "deploy")
    try:
        yield
    finally:
        run("make", "undeploy")


def test_the_operator_becomes_ready(deployed: None) -> None:
    """The Deployment rolls out: the image starts, and its probes answer."""
    run(
        "kubectl", "rollout", "status", "deployment", "--namespace", NAMESPACE,
        "--selector", "control-plane=controller-manager", "--timeout", "180s",
    )  # fmt: skip


def test_the_samples_become_ready(deployed: None) -> None:
    """Every sample reaches the condition Ready."""
    if not list(Path("config/samples").glob("*_*.yaml")):
        pytest.skip("the project has no API yet")
    run("kubectl", "apply", "--server-side", "-k", "config/samples")
    try:
        run("kubectl", "wait", "--for", "condition=Ready", "--timeout", "120s", "-k", "config/samples")
    finally:
        run("kubectl", "delete", "-k", "config/samples", "--wait", "--timeout", "120s")
