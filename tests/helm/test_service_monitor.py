"""The ServiceMonitor for the Prometheus Operator, checked against that project's own CRD."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.testing import eventually
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing.plugin import ControlPlanes

CRD = (
    ROOT.parent
    / "shared/corpus/prometheus-operator+prometheus-operator"
    / "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"
)


@pytest.fixture
def monitor_crd() -> Path:
    """Give the path of the Prometheus Operator's CRD, which lies beside the repository, not in it."""
    if not CRD.is_file():
        reason = f"{CRD.relative_to(ROOT.parent)} is not beside the repository"
        assert "CI" not in os.environ, reason
        pytest.skip(reason)
    return CRD


def test_api_server_takes_the_monitor(monitor_crd: Path, project: Path, control_planes: ControlPlanes) -> None:
    """After the CRD's arrival, strict server-side apply has no objection to config/prometheus."""
    server = control_planes().server
    kubectl: list[str | Path] = [server.kubectl, "--kubeconfig", server.kubeconfig()]
    apply = [*kubectl, "apply", "--server-side", "--validate=strict"]
    established = [*kubectl, "wait", "--for=condition=Established", "--timeout=30s", "-f", monitor_crd]
    subprocess.run([*apply, "-f", monitor_crd], capture_output=True, check=True)
    # kubectl gives up at once where a CRD has no conditions yet
    eventually(lambda: subprocess.run(established, capture_output=True, check=False).returncode == 0)
    subprocess.run([*kubectl, "create", "namespace", "system"], capture_output=True, check=True)
    run = subprocess.run([*apply, "-k", project / "config/prometheus"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "controller-manager-metrics-monitor serverside-applied" in run.stdout
