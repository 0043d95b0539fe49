from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import ControlPlane, controlplane, eventually
from tests.cluster.envtest_helpers import answers, config_map, exists, processes_of

if TYPE_CHECKING:
    from pyopscaffold.testing.plugin import ControlPlanes

PARENT = """
import time
from pyopscaffold.testing import ControlPlane

with ControlPlane() as server:
    print(server.url, server.directory, flush=True)
    while True:  # a blocking read could start just after the signal came, and not see it
        time.sleep(0.05)
"""


def test_everything_stops_with_the_block() -> None:
    """After the with statement there is no process, no open port and no folder."""
    with ControlPlane() as server:
        assert server.client().text("/readyz") == "ok"
        assert len(processes_of(server.directory)) == 3  # etcd, the API server and their supervisor
        assert answers(server.url)
    assert processes_of(server.directory) == []
    assert not answers(server.url)
    assert not server.directory.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_everything_stops_when_the_parent_ends(number: signal.Signals) -> None:
    """Ctrl-C and SIGKILL of the process that started it leave neither process nor port nor folder."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        url, _, text = parent.stdout.readline().strip().partition(" ")
        folder = Path(text)
        assert answers(url)
        os.killpg(parent.pid, number)  # as a terminal does, the whole group
        parent.wait(30)
    eventually(lambda: not processes_of(folder))
    eventually(lambda: not folder.exists())
    assert not answers(url)


def test_two_at_once_do_not_meet(control_planes: ControlPlanes) -> None:
    """Control planes side by side have addresses, data and credentials of their own."""
    first, second = control_planes().server, control_planes().server
    assert first.url != second.url
    path = "/api/v1/namespaces/default/configmaps"
    first.client().create(path, config_map("mine"))
    assert not exists(second.client(), f"{path}/mine")
    assert first.admin.token != second.admin.token


def test_an_outage_keeps_address_and_data(control_planes: ControlPlanes) -> None:
    """The API server can be killed and started again, with what it stored."""
    plane = control_planes()
    url, client = plane.server.url, plane.server.client()
    client.create("/api/v1/namespaces/default/configmaps", config_map("kept"))
    plane.stop_api_server(grace=0)
    assert not answers(url)
    plane.start_api_server()
    assert plane.server.url == url
    assert exists(client, "/api/v1/namespaces/default/configmaps/kept")


def test_a_port_that_is_taken_meanwhile_is_replaced(
    control_planes: ControlPlanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When another program takes the chosen port first, the next free one is tried."""
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        taken = occupied.getsockname()[1]
        ports = iter([taken, controlplane.free_port()])
        monkeypatch.setattr(controlplane, "free_port", lambda _wanted: next(ports))
        server = control_planes().server
    assert not server.url.endswith(f":{taken}")
    assert server.client().text("/readyz") == "ok"


def test_a_named_port_that_is_taken_is_an_error() -> None:
    """A port that the user chose is not replaced silently."""
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        taken = occupied.getsockname()[1]
        plane = ControlPlane(port=taken)
        with pytest.raises(EnvtestError, match=f"port {taken} is not free"):
            plane.start()


def test_a_server_that_does_not_start_shows_its_last_words() -> None:
    """The end of kube-apiserver's log is in the error, and nothing is left running."""
    plane = ControlPlane(arguments=["--no-such-flag"])
    with pytest.raises(EnvtestError, match=r"(?s)kube-apiserver ended with exit code 1.*unknown flag: --no-such-flag"):
        plane.start()
    with pytest.raises(EnvtestError, match="does not run"):
        _ = plane.server
