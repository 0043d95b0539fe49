"""RedisCluster: the desired state and the status by themselves, and all of it on a real API server."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from pyopscaffold.api import ObjectMeta
from pyopscaffold.errors import Invalid
from pyopscaffold.runtime import conditions
from pyopscaffold.testing import RestClient, StandIn, eventually

from rediscluster.api.v1alpha1.redis_cluster import RedisCluster, RedisClusterSpec
from rediscluster.controllers.redis_cluster import deployment, report, secret, service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer


def redis_cluster(**spec: Any) -> RedisCluster:
    """Make a RedisCluster as a user would write it."""
    return RedisCluster(
        metadata=ObjectMeta(name="sample", namespace="default", uid="u", generation=1),
        spec=RedisClusterSpec(**spec),
    )


def test_the_deployment_runs_the_version_on_as_many_pods() -> None:
    """Version and replicas of the spec arrive in the Deployment."""
    spec = deployment(redis_cluster(version="8.2", replicas=3))["spec"]
    assert spec["replicas"] == 3
    assert spec["template"]["spec"]["containers"][0]["image"] == "redis:8.2"


def test_the_children_fit_together() -> None:
    """The Service selects the pods, and these read the password from the Secret that goes with the cluster."""
    cluster = redis_cluster()
    template, made = deployment(cluster)["spec"]["template"], secret(cluster, "open")
    assert service(cluster)["spec"]["selector"] == template["metadata"]["labels"]
    (variable,) = template["spec"]["containers"][0]["env"]
    reference = variable["valueFrom"]["secretKeyRef"]
    assert reference["name"] == made["metadata"]["name"]
    assert made["stringData"] == {reference["key"]: "open"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == cluster.metadata.uid


@pytest.mark.parametrize(
    ("observed", "expected"),
    [
        ({}, ("False", "RollingOut")),
        ({"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2}, ("False", "RollingOut")),
        ({"replicas": 3, "readyReplicas": 2, "updatedReplicas": 1}, ("False", "RollingOut")),
        ({"replicas": 2, "readyReplicas": 2, "updatedReplicas": 2}, ("True", "AllPodsReady")),
    ],
)
def test_it_is_ready_once_all_pods_serve(observed: dict[str, int], expected: tuple[str, str]) -> None:
    """Ready needs every pod, on the newest version; until then it reconciles."""
    cluster = redis_cluster(replicas=2)
    child = deployment(cluster) | {"status": {"observedGeneration": 1, **observed}}
    child["metadata"]["generation"] = 1
    report(cluster, child)
    ready = conditions.get(cluster, "Ready")
    assert ready is not None
    assert (ready.status, ready.reason) == expected
    assert (conditions.get(cluster, "Reconciling") is None) == (expected[0] == "True")


def test_an_older_roll_out_is_not_ready() -> None:
    """What the Deployment's controller reports of an earlier generation says nothing about this one."""
    cluster = redis_cluster()
    counts = dict.fromkeys(("replicas", "readyReplicas", "updatedReplicas"), 1)
    child = deployment(cluster) | {"status": {"observedGeneration": 1, **counts}}
    child["metadata"]["generation"] = 2
    report(cluster, child)
    ready = conditions.get(cluster, "Ready")
    assert ready is not None
    assert ready.status == "False"


# On a real API server, the operator being watched as an administrator would.


@dataclass
class Cache:
    """The RedisCluster ``sample`` in a namespace of the test's own."""

    client: RestClient
    namespace: str

    @property
    def path(self) -> str:
        """Where it lives."""
        return f"/apis/cache.example.com/v1alpha1/namespaces/{self.namespace}/redisclusters/sample"

    def write(self, **spec: Any) -> None:
        """Apply it as its user."""
        kind = {"apiVersion": "cache.example.com/v1alpha1", "kind": "RedisCluster"}
        self.client.apply(self.path, {**kind, "metadata": {"name": "sample"}, "spec": spec}, manager="user")

    def is_ready(self, pods: int) -> bool:
        """Whether all pods serve what the newest spec says."""
        found = self.client.get(self.path)
        status, generation = found.get("status", {}), found["metadata"]["generation"]
        ready = any(
            item["type"] == "Ready" and item["status"] == "True" and item["observedGeneration"] == generation
            for item in status.get("conditions", [])
        )
        return ready and bool(status["readyReplicas"] == pods)

    def child(self, plural: str, name: str = "sample") -> dict[str, Any]:
        """Read a child."""
        return self.client.get(f"{self.at(plural)}/{name}")

    def lose(self, plural: str) -> None:
        """Delete a child, and wait until the operator has made it anew."""
        lost = self.child(plural)["metadata"]["uid"]
        self.client.delete(f"{self.at(plural)}/sample")
        eventually(lambda: self.child(plural)["metadata"]["uid"] != lost)

    def at(self, plural: str) -> str:
        """Where children of a kind live."""
        api = "/apis/apps/v1" if plural == "deployments" else "/api/v1"
        return f"{api}/namespaces/{self.namespace}/{plural}"

    def names(self) -> list[str]:
        """List its children."""
        kinds = ("deployments", "services", "secrets")
        return [
            f"{plural}/{item['metadata']['name']}"
            for plural in kinds
            for item in self.client.get(self.at(plural))["items"]
        ]


@dataclass
class Operator:
    """The operator's process, with its metrics and its log."""

    port: int
    log: Path

    def metric(self, name: str, **labels: str) -> float:
        """Read a metric of ``/metrics``; 0 where it is not there."""
        with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        for line in re.findall(rf"^{name}{{(.*)}} (\S+)$", text, re.MULTILINE):
            if labels.items() <= dict(re.findall(r'(\w+)="([^"]*)"', line[0])).items():
                return float(line[1])
        return 0

    def lines(self, **fields: Any) -> list[dict[str, Any]]:
        """Read the lines of the log that have these fields."""
        found = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in found if fields.items() <= line.items()]


@pytest.fixture
def cache(api_server: ApiServer, namespace: str, crds: None) -> Iterator[Cache]:
    """Give a place for a RedisCluster, with a stand-in for the Deployment's controller."""
    client = api_server.client()
    with StandIn(api_server):
        yield Cache(client, namespace)
    client.close()


@pytest.fixture
def operator(crds: None, operator_kubeconfig: Path, namespace: str, tmp_path: Path) -> Iterator[Operator]:
    """Run the operator on the test's namespace, with metrics and the JSON log; it must end well."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "rediscluster", "--kubeconfig", str(operator_kubeconfig), "--namespace", namespace]
    command += ["--metrics-bind-address", f"127.0.0.1:{port}", "--health-probe-bind-address", "0"]
    log = tmp_path / "operator.log"
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--log-format", "json"], stderr=output)
    try:
        yield Operator(port, log)
    finally:
        process.terminate()
        code = process.wait(timeout=30)
    assert code in (0, -signal.SIGTERM)


def test_metrics_and_log_tell_what_the_operator_does(
    cache: Cache, operator: Operator, api_server: ApiServer, namespace: str
) -> None:
    """From a spec to ready pods: reconciles counted, lines with the object and the reconcile's id, nothing refused."""
    cache.write(replicas=2)
    eventually(lambda: cache.is_ready(2))
    assert cache.names() == ["deployments/sample", "services/sample", "secrets/sample-redis"]
    eventually(
        lambda: operator.metric("controller_runtime_reconcile_total", controller="rediscluster", result="success")
    )
    assert operator.metric("controller_runtime_reconcile_total", controller="rediscluster", result="error") == 0
    assert operator.metric("controller_runtime_reconcile_errors_total", controller="rediscluster") == 0
    assert operator.metric("rest_client_requests_total", method="POST", code="201")

    subject = {"controller": "rediscluster", "namespace": namespace, "name": "sample"}
    (generated,) = operator.lines(msg="password generated", **subject)
    (ready,) = eventually(lambda: operator.lines(msg="ready", **subject))
    assert generated["secret"] == "sample-redis"
    assert ready["replicas"] == 2
    uuid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    assert all(uuid.fullmatch(line["reconcileID"]) for line in (generated, ready))
    assert generated["reconcileID"] != ready["reconcileID"]
    assert [line for line in operator.lines() if line["level"] not in {"info", "debug"}] == []

    records = api_server.audit_log.records(user=f"system:serviceaccount:{namespace}:operator")
    assert records
    assert [record for record in records if record.code in {401, 403}] == []


def test_the_password_stays(cache: Cache, operator: Operator) -> None:
    """Neither a new version nor lost children rotate it; it is in no line of the log; nobody can change it."""
    cache.write()
    eventually(lambda: cache.is_ready(1))
    before = cache.child("secrets", "sample-redis")
    cache.write(version="8.2", replicas=3)
    eventually(lambda: cache.is_ready(3))
    for plural in ("deployments", "services"):
        cache.lose(plural)
    eventually(lambda: cache.is_ready(3))
    assert cache.child("secrets", "sample-redis") == before
    assert b64decode(before["data"]["password"]).decode() not in operator.log.read_text()
    with pytest.raises(Invalid):
        cache.client.merge(f"{cache.at('secrets')}/sample-redis", {"stringData": {"password": "guessed"}})


def test_a_secret_of_the_users_own_is_taken(cache: Cache, operator: Operator) -> None:
    """Who wants to choose the password makes the Secret first."""
    own = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "sample-redis"},
        "stringData": {"password": "mine"},
    }
    made = cache.client.create(cache.at("secrets"), own)
    cache.write()
    eventually(lambda: cache.is_ready(1))
    assert cache.child("secrets", "sample-redis") == made
    assert operator.lines(msg="password generated") == []


def test_kubectl_scale_reaches_the_pods(cache: Cache, operator: Operator) -> None:
    """The scale subresource changes the spec, and shows pods and selector."""
    cache.write()
    eventually(lambda: cache.is_ready(1))
    cache.client.merge(f"{cache.path}/scale", {"spec": {"replicas": 4}})
    eventually(lambda: cache.is_ready(4))
    assert cache.child("deployments")["spec"]["replicas"] == 4
    status = cache.client.get(f"{cache.path}/scale")["status"]
    assert status["replicas"] == 4
    assert "app.kubernetes.io/instance=sample" in status["selector"]


def test_all_of_it_goes_with_the_cluster(cache: Cache, operator: Operator) -> None:
    """Deployment, Service and Secret are collected once the RedisCluster is deleted."""
    cache.write()
    eventually(lambda: cache.is_ready(1))
    cache.client.delete(cache.path)
    eventually(lambda: cache.names() == [])
