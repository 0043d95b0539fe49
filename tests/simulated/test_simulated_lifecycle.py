"""A simulated cluster starts as one and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import Binaries, SimulatedCluster, eventually
from pyopscaffold.testing.binaries import find
from tests.cluster.envtest_helpers import answers, processes_of
from tests.simulated.workloads import Namespace, deployment, stateful_set

pytestmark = pytest.mark.xdist_group("simulated-lifecycle")

PARENT = """
import time
from pyopscaffold.testing import SimulatedCluster

class Seen(SimulatedCluster):
    def _start_beside(self):
        print(self.server.url, self.server.directory, flush=True)
        super()._start_beside()

with Seen() as server:
    print("ready", flush=True)
    while True:  # a blocking read could start just after the signal came, and not see it
        time.sleep(0.05)
"""
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "supervisor.py")


def test_it_is_six_processes_and_one_address() -> None:
    """The programs run under one supervisor and stop with the block; no folder is left."""
    with SimulatedCluster() as server:
        running = processes_of(server.directory)
        assert len(running) == len(PROGRAMS)
        assert all(any(name in line for line in running) for name in PROGRAMS)
    assert processes_of(server.directory) == []
    assert not answers(server.url)
    assert not server.directory.exists()


@pytest.mark.parametrize(("number", "moment"), [(signal.SIGKILL, "ready"), (signal.SIGINT, "starting")])
def test_everything_stops_when_the_parent_ends(number: signal.Signals, moment: str) -> None:
    """Ctrl-C and SIGKILL of the process that started it, be it still starting, leave neither process nor port."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        url, _, text = parent.stdout.readline().strip().partition(" ")
        folder = Path(text)
        if moment == "ready":
            assert parent.stdout.readline() == "ready\n"
        os.killpg(parent.pid, number)  # as a terminal does, the whole group
        parent.wait(30)
    eventually(lambda: not processes_of(folder), within=30)
    eventually(lambda: not folder.exists())
    assert not answers(url)


def test_it_goes_on_after_an_outage_of_the_api_server() -> None:
    """Controllers, scheduler and nodes find the API server again after it was killed."""
    cluster = SimulatedCluster()
    with cluster as server:
        here = Namespace(server.client(), "default")
        here.client.apply(here.path("deployments", "app"), deployment(1))
        eventually(lambda: here.ready("deployments") == 1)
        cluster.stop_api_server(grace=0)
        cluster.start_api_server()
        here.client.apply(here.path("deployments", "app"), deployment(2))
        eventually(lambda: here.ready("deployments") == 2, within=40)


def test_a_kept_cluster_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """With a folder of its own the cluster has its objects, nodes and running pods again after a new start."""
    with SimulatedCluster(directory=tmp_path, nodes=2) as server:
        here = Namespace(server.client(), "default")
        here.client.apply(here.path("statefulsets", "app"), stateful_set(1, storage="1Gi"))
        eventually(lambda: here.ready("statefulsets") == 1)
    with SimulatedCluster(directory=tmp_path, nodes=2) as server:
        here = Namespace(server.client(), "default")
        here.client.merge(here.path("statefulsets", "app"), {"spec": {"replicas": 2}})
        eventually(lambda: here.ready("statefulsets") == 2)
        assert len(server.client().get("/api/v1/nodes")["items"]) == 2


def test_a_program_that_ends_is_named_with_its_last_words() -> None:
    """When one of the programs does not come up, the error says which, and what it said."""
    cluster = SimulatedCluster(controller_manager_arguments=["--no-such-flag"])
    with pytest.raises(EnvtestError, match=r"kube-controller-manager ended(.|\n)*unknown flag: --no-such-flag"):
        cluster.start()
    assert not cluster.runs


def test_missing_programs_are_named_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the API server's programs are, the error names the command that gets the others."""
    found: Binaries = find()
    store = tmp_path / "pyopscaffold" / "envtest" / found.directory.name
    store.mkdir(parents=True)
    for name in ("etcd", "kube-apiserver", "kubectl"):
        (store / name).symlink_to(found.directory / name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    with pytest.raises(EnvtestError, match="the simulated cluster of Kubernetes") as caught:
        SimulatedCluster().start()
    assert "pyopscaffold envtest setup --simulated" in (caught.value.hint or "")
