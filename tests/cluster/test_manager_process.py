"""An operator as a process of its own: how it is started wrongly, stopped, killed and blocked."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import yaml

from tests.cluster.shard_fleet import RULES
from tests.cluster.widgets import GROUP, Cluster, soon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "tests.cluster.widget_operator"]
NO_PORTS = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]


class Operator:
    """A running operator process."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process = process
        self.log = log

    def lines(self) -> list[dict[str, Any]]:
        """Its log lines so far, each of which has to be JSON."""
        return [json.loads(line) for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def said(self, text: str) -> list[dict[str, Any]]:
        """Log lines whose message contains the text."""
        return [line for line in self.lines() if text in line["msg"]]

    def end(self, with_signal: signal.Signals) -> int:
        """Send a signal and give the exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(60)


@pytest.fixture
def start(api_server: ApiServer, cluster: Cluster, tmp_path: Path) -> Any:
    """Give a context manager that runs the operator in the test's namespace."""

    @contextmanager
    def starting(*flags: str, **environment: str) -> Iterator[Operator]:
        log = tmp_path / f"log-{len(list(tmp_path.iterdir()))}"
        command = [*COMMAND, f"--kubeconfig={api_server.kubeconfig()}", f"--namespace={cluster.namespace}", *NO_PORTS]
        with log.open("w") as stderr:
            variables = {**os.environ, **environment}
            process = subprocess.Popen([*command, *flags], cwd=ROOT, stderr=stderr, text=True, env=variables)
        try:
            yield Operator(process, log)
        finally:
            process.kill()
            process.wait()

    return starting


def fails(*flags: str, **environment: str) -> str:
    """Run an operator that can't start, and give its one line."""
    ended = subprocess.run(
        [*COMMAND, *flags],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    return lines[0]


async def test_sigterm_drains_and_ends_with_0(start: Any, cluster: Cluster) -> None:
    """SIGTERM lets the running reconcile finish and ends the process with 0."""
    cluster.apply("one", text="slow")
    with start() as operator:
        await soon(lambda: operator.said("looking"))
        assert operator.end(signal.SIGTERM) == 0
    assert cluster.config_map("one")["data"] == {"text": "slow"}


async def test_ctrl_c_ends_with_130(start: Any) -> None:
    """Ctrl-C ends the process in order with 130."""
    with start() as operator:
        await soon(lambda: operator.said("caches are synced"))
        assert operator.end(signal.SIGINT) == 130


async def test_a_second_signal_ends_at_once(start: Any, cluster: Cluster) -> None:
    """Whoever asks twice does not want to wait: the running reconcile is not finished."""
    cluster.apply("one", text="slow")
    with start() as operator:
        await soon(lambda: operator.said("looking"))
        operator.process.send_signal(signal.SIGTERM)
        await soon(lambda: operator.said("stopping"))
        assert operator.end(signal.SIGTERM) == 1
    assert not cluster.exists(cluster.config_map_path("one"))


@pytest.mark.parametrize("signals", [1, 2])
async def test_a_blocked_process_ends_too(start: Any, cluster: Cluster, signals: int) -> None:
    """A blocked event loop can't drain: the process ends by force when its time is over, or when it is asked twice."""
    cluster.apply("one", text="block forever")
    with start("--grace=0.5" if signals == 1 else "--grace=600") as operator:
        await soon(lambda: operator.said("the event loop is blocked"))
        if signals == 1:
            assert operator.end(signal.SIGTERM) == 1
            return
        # two that come at once may count as one
        await soon(lambda: operator.process.poll() is not None or operator.process.send_signal(signal.SIGTERM))
        assert operator.process.returncode == 1


async def test_sigkill_and_a_new_start_converge(start: Any, cluster: Cluster) -> None:
    """Killed in the middle of its work, the operator finishes it when it is started again."""
    names = [f"widget-{index}" for index in range(6)]
    with start() as operator:
        for name in names:
            cluster.apply(name, text="slow")
        await soon(lambda: any(cluster.exists(cluster.config_map_path(name)) for name in names))
        assert operator.end(signal.SIGKILL) == -signal.SIGKILL
    assert not all(cluster.exists(cluster.config_map_path(name)) for name in names)
    for name in names:
        cluster.apply(name, text="quick")
    with start() as operator:
        await soon(lambda: all(cluster.state(name, "Ready") == ("True", "Reconciled") for name in names))
        assert all(cluster.config_map(name)["data"] == {"text": "quick"} for name in names)
        assert operator.end(signal.SIGTERM) == 0


async def test_log_lines_are_json_with_the_object(start: Any, cluster: Cluster) -> None:
    """Each line is JSON; those of a reconcile carry controller, object, reconcileID and the caller's fields."""
    with start() as operator:
        cluster.apply("one", text="hello")
        line = (await soon(lambda: operator.said("looking")))[0]
    assert line | {"ts": "", "reconcileID": ""} == {
        "level": "info",
        "ts": "",
        "logger": "pyopscaffold.controller",
        "msg": "looking",
        "controller": "widget",
        "controllerGroup": GROUP,
        "controllerKind": "Widget",
        "object": {"namespace": cluster.namespace, "name": "one"},
        "namespace": cluster.namespace,
        "name": "one",
        "reconcileID": "",
        "text": "hello",
    }
    assert len(line["reconcileID"]) == 36


class Collector(BaseHTTPRequestHandler):
    """Takes what OpenTelemetry sends."""

    received: ClassVar[list[tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        """See BaseHTTPRequestHandler."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.path, gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the parent's name
        """Say nothing."""


async def test_traces_are_sent_by_the_environment(start: Any, cluster: Cluster) -> None:
    """With OpenTelemetry's variables set traces leave, at the latest when the process ends; log lines name theirs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        endpoint = f"http://127.0.0.1:{collector.server_port}"
        with start(OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_SERVICE_NAME="widgets") as operator:
            cluster.apply("one", text="hello")
            line = (await soon(lambda: operator.said("looking")))[0]
            await soon(lambda: cluster.exists(cluster.config_map_path("one")))
            assert operator.end(signal.SIGTERM) == 0
        collector.shutdown()
    paths, bodies = zip(*Collector.received, strict=True)
    assert set(paths) == {"/v1/traces"}
    sent = b"".join(bodies)
    assert bytes.fromhex(line["trace_id"]) in sent
    for word in (b"reconcile widget", b"PATCH configmaps", b"widgets"):
        assert word in sent


async def test_watchdog_tells_what_blocks(start: Any, cluster: Cluster) -> None:
    """User code that blocks the event loop is logged with its stack while it does."""
    with start() as operator:
        cluster.apply("one", text="block")
        blocked = (await soon(lambda: operator.said("the event loop is blocked")))[0]
        assert "time.sleep(0.5" in blocked["stacktrace"]
        assert (await soon(lambda: operator.said("was blocked for")))[0]["seconds"] > 0


async def test_lost_lease_ends_even_a_blocked_process(start: Any, cluster: Cluster) -> None:
    """A blocked event loop does not cost the lease; when the lease is lost all the same, the process ends."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{cluster.namespace}/leases/widgets"
    election = ["--leader-elect", f"--leader-election-namespace={cluster.namespace}", "--leader-election-id=widgets"]
    with start(*election) as operator:
        cluster.apply("one", text="block forever")
        await soon(lambda: operator.said("the event loop is blocked"))
        renewed = cluster.client.get(path)["spec"]["renewTime"]
        await soon(lambda: cluster.client.get(path)["spec"]["renewTime"] > renewed)
        cluster.client.merge(path, {"spec": {"holderIdentity": "thief"}})
        await soon(lambda: operator.process.poll() is not None)
        assert operator.process.returncode == 1
        assert operator.said("the work does not stop")


def test_port_taken(api_server: ApiServer) -> None:
    """A port that somebody else listens on: one line that names the flag."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = fails(f"--kubeconfig={api_server.kubeconfig()}", f"--metrics-bind-address={address}", NO_PORTS[1])
    assert line.startswith(f"error: --metrics-bind-address: can't listen on {address}: Address already in use")


def test_api_server_unreachable(api_server: ApiServer, tmp_path: Path) -> None:
    """No server at the address: one line that names it."""
    config = yaml.safe_load(api_server.kubeconfig().read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))
    line = fails(f"--kubeconfig={path}", *NO_PORTS)
    assert f"127.0.0.1:{port}" in line
    assert "can't be reached" in line


def test_bad_kubeconfig(tmp_path: Path) -> None:
    """A kubeconfig that is none: one line that names the file."""
    path = tmp_path / "config"
    path.write_text("[")
    assert str(path) in fails(f"--kubeconfig={path}", *NO_PORTS)


def test_forbidden(api_server: ApiServer, cluster: Cluster) -> None:
    """An account without permissions: one line that says what it may not do."""
    path = api_server.kubeconfig(api_server.service_account(cluster.namespace, "nobody"))
    line = fails(f"--kubeconfig={path}", f"--namespace={cluster.namespace}", *NO_PORTS)
    assert "cannot list resource" in line
    assert "config/rbac" in line


def test_shards_forbidden(api_server: ApiServer, cluster: Cluster) -> None:
    """Without the role for --shard, an operator would have no share for ever: one line says where that role is."""
    account = api_server.service_account(cluster.namespace, "unshared")
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "unshared"}}
    path = f"/apis/{rbac['apiVersion']}/namespaces/{cluster.namespace}"
    rules = [rule for rule in RULES if rule["resources"] != ["leases"]]
    cluster.client.apply(f"{path}/roles/unshared", {**rbac, "kind": "Role", "rules": rules})
    binding = {
        "kind": "RoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "unshared"},
        "subjects": [{"kind": "ServiceAccount", "name": "unshared", "namespace": cluster.namespace}],
    }
    cluster.client.apply(f"{path}/rolebindings/unshared", {**rbac, **binding})
    kubeconfig = api_server.kubeconfig(account, namespace=cluster.namespace)
    line = fails(f"--kubeconfig={kubeconfig}", f"--namespace={cluster.namespace}", "--shard", *NO_PORTS)
    assert 'cannot list resource "leases"' in line
    assert "config/sharding" in line


def test_crd_missing(api_server: ApiServer) -> None:
    """A kind that the server does not know: one line that says how to install it."""
    line = fails(f"--kubeconfig={api_server.kubeconfig()}", *NO_PORTS, UNKNOWN_KIND="1")
    assert "unknowns.unknown.example.com v1" in line
    assert "make install" in line
