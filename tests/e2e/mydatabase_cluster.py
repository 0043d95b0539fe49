"""What the end-to-end tests handle: a database, operators as processes, the cluster they run on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import NotFound
from pyopscaffold.testing import ApiServer, RestClient, eventually
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = ROOT / "examples" / "mydatabase"
SYSTEM = "mydatabase-system"
ACCOUNT = "mydatabase-controller-manager"
CHILDREN = {"statefulsets": "/apis/apps/v1", "services": "/api/v1"}


@dataclass
class Database:
    """One MyDatabase, named ``db``, and its children, in a namespace of the test's own."""

    client: RestClient
    namespace: str

    @property
    def path(self) -> str:
        """Where it lives."""
        return f"/apis/example.com/v1/namespaces/{self.namespace}/mydatabases/db"

    def child_path(self, plural: str) -> str:
        """Where its StatefulSet or Service lives."""
        return f"{CHILDREN[plural]}/namespaces/{self.namespace}/{plural}/db"

    def write(self, **spec: Any) -> None:
        """Apply the database as its user."""
        body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": "db"}, "spec": spec}
        self.client.apply(self.path, body, manager="user")

    def get(self) -> dict[str, Any]:
        """Read the database."""
        return self.client.get(self.path)

    def child(self, plural: str = "statefulsets") -> dict[str, Any]:
        """Read a child."""
        return self.client.get(self.child_path(plural))

    def condition(self, kind: str) -> tuple[str, str]:
        """Give a condition's status and reason if it is about the newest spec, else empty texts."""
        found = self.get()
        for condition in found.get("status", {}).get("conditions", []):
            if condition["type"] == kind and condition["observedGeneration"] == found["metadata"]["generation"]:
                return condition["status"], condition["reason"]
        return "", ""

    def is_ready(self, pods: int) -> bool:
        """Whether all pods serve what the newest spec says."""
        return self.condition("Ready")[0] == "True" and self.get()["status"]["readyReplicas"] == pods

    def is_gone(self) -> bool:
        """Whether neither the database nor a child is left."""
        return all(_is_gone(self.client, path) for path in (self.path, *map(self.child_path, CHILDREN)))


def _is_gone(client: RestClient, path: str) -> bool:
    try:
        client.get(path)
    except NotFound:
        return True
    return False


@dataclass
class Operator:
    """The operator's process; ``log`` holds its lines."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to stop and give its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=30)

    def end(self) -> None:
        """Stop it, if it still runs, and print its log."""
        if self.process.poll() is None:
            self.stop()
        print(self.log.read_text())  # noqa: T201 - pytest shows it where the test failed


@dataclass
class Cluster:
    """An API server with the example installed, and the operators that were started on it."""

    server: ApiServer
    kubeconfig: Path
    user: str
    logs: Path
    operators: list[Operator] = field(default_factory=list)

    def start_operator(self, namespace: str, *flags: str) -> Operator:
        """Start an operator for one namespace, or for all (``""``), under the generated RBAC."""
        command = [sys.executable, "-m", "mydatabase", "--kubeconfig", str(self.kubeconfig)]
        command += ["--namespace", namespace] if namespace else []
        command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0", *flags]
        log = self.logs / f"operator-{len(self.operators)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, cwd=EXAMPLE, stdout=output, stderr=output)
        self.operators.append(Operator(process, log))
        return self.operators[-1]

    def kubectl(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run kubectl as admin, and give what it printed."""
        environment = {**os.environ, "KUBECONFIG": str(self.server.kubeconfig())}
        command = [str(self.server.kubectl), *arguments]
        done = subprocess.run(command, input=stdin, check=True, capture_output=True, env=environment)
        return done.stdout.decode()

    def refused(self) -> list[str]:
        """What the operators asked for and were not allowed."""
        records = self.server.audit_log.records(user=self.user)
        return [f"{record.verb} {record.uri}" for record in records if record.code in {401, 403}]


def install(server: ApiServer, logs: Path) -> Cluster:
    """Install what ``make deploy`` does, and wait until the kind is served."""
    cluster = Cluster(server, Path(), "", logs)
    rendered = cluster.kubectl("kustomize", str(EXAMPLE / "config" / "default"))
    cluster.kubectl("apply", "--server-side", "--filename", "-", stdin=rendered.encode())
    cluster.kubectl("wait", "--for=condition=Established", "crd/mydatabases.example.com")
    client = server.client()
    eventually(lambda: client.get("/apis/example.com/v1/mydatabases")["items"] == [])
    client.close()
    account = server.service_account(SYSTEM, ACCOUNT)
    return replace(cluster, kubeconfig=server.kubeconfig(account, namespace=SYSTEM), user=account.user)


@contextmanager
def database_in(cluster: Cluster, test: str) -> Iterator[Database]:
    """Give a database-to-be in a namespace of its own, called after the test."""
    name = re.sub("[^a-z]+", "-", test.lower())[:60].strip("-")
    client = cluster.server.client()
    client.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        yield Database(client, name)
    finally:
        client.close()
