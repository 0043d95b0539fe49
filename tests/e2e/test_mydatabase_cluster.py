"""The example operator, under its generated RBAC, on a simulated cluster: real controllers, pods, volumes, nodes."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import eventually
from pyopscaffold.testing.discovery import discover, list_metadata
from tests.e2e.fleet import Fleet
from tests.e2e.metrics_api import metrics_api
from tests.e2e.mydatabase_cluster import Cluster, Database, database_in, install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyopscaffold.testing import AuditRecord, SimulatedCluster

pytestmark = pytest.mark.xdist_group("e2e-mydatabase-cluster")

NODES = 6
WITHIN = 30.0
"""Seconds that the slowest roll-out may take on a busy machine."""
CONTROLLERS = "system:kube-controller-manager"


@pytest.fixture(scope="module")
def simulated(clusters: Callable[..., SimulatedCluster]) -> SimulatedCluster:
    """Give a simulated cluster that soon misses a node, and acts on it."""
    return clusters(nodes=NODES, audit=True, unreachable_after=6.0, evict_after=1)


@pytest.fixture(scope="module")
def cluster(simulated: SimulatedCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Give it with the example installed and one operator that runs all the time, and is refused nothing."""
    installed = install(simulated.server, tmp_path_factory.mktemp("operators"))
    operator = installed.start_operator("")
    yield installed
    assert operator.stop() == 0
    assert installed.refused() == []


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a database-to-be in a namespace of its own."""
    with database_in(cluster, request.node.name) as found:
        yield found


class Pods:
    """The pods of a database, and what the StatefulSet controller did to them since the last ``forget``."""

    def __init__(self, cluster: Cluster, database: Database) -> None:
        self._log = cluster.server.audit_log
        self._database = database
        self._skip = 0
        self.path = f"/api/v1/namespaces/{database.namespace}/pods"

    def all(self) -> dict[str, dict[str, Any]]:
        """Read them, by name."""
        return {pod["metadata"]["name"]: pod for pod in self._database.client.get(self.path)["items"]}

    def images(self) -> list[str]:
        """Give the image that each one runs, in their order."""
        return [pod["spec"]["containers"][0]["image"] for _, pod in sorted(self.all().items())]

    def forget(self) -> None:
        """Leave out what has been done so far."""
        self._skip = len(self._log.records())

    def records(self) -> list[AuditRecord]:
        """Give what anybody asked for in the namespace."""
        records = self._log.records(skip=self._skip)
        return [record for record in records if record.namespace == self._database.namespace]

    def done(self) -> list[str]:
        """Give what was done, in order: ``create``, or ``delete`` and the pod's name."""
        acts = [
            record
            for record in self.records()
            if (record.user, record.resource, record.subresource) == (CONTROLLERS, "pods", "")
            and record.verb in {"create", "delete"}
        ]
        return [f"delete {record.name}" if record.verb == "delete" else "create" for record in acts]


@contextmanager
def history(cluster: Cluster, database: Database, log: Path) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """Record every state of the database that anybody could see; gives a function that reads them."""
    command = [str(cluster.server.kubectl), "--namespace", database.namespace]
    command += ["get", "mydatabase", "db", "--watch", "--output", "json"]
    environment = {**os.environ, "KUBECONFIG": str(cluster.server.kubeconfig())}
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, env=environment)

    def states() -> list[dict[str, Any]]:
        text, found, position = log.read_text(), [], 0
        while "{" in text[position:]:
            try:
                state, position = json.JSONDecoder().raw_decode(text, text.index("{", position))
            except ValueError:  # it is still being written
                break
            found.append(state)
        return found

    try:
        eventually(states)
        yield states
    finally:
        process.terminate()
        process.wait()


def claims(database: Database) -> list[dict[str, Any]]:
    """Read the volume claims of a database."""
    path = f"/api/v1/namespaces/{database.namespace}/persistentvolumeclaims"
    found: list[dict[str, Any]] = database.client.get(path)["items"]
    return found


def contents(database: Database) -> set[str]:
    """Name all that is in the namespace, but for events, which pass."""
    client = database.client
    kinds = [kind for kind in discover(client) if kind.namespaced and kind.kind != "Event"]
    return {
        f"{kind.kind} {item['metadata']['name']}"
        for kind in kinds
        for item in list_metadata(client, kind.in_namespace(database.namespace))
    }


def test_three_pods_run_and_it_is_ready(cluster: Cluster, database: Database) -> None:
    """Three pods run on nodes, each with a bound volume, and the database is Ready."""
    database.write(replicas=3)
    eventually(lambda: database.is_ready(3), within=WITHIN)
    pods = Pods(cluster, database).all()
    assert sorted(pods) == ["db-0", "db-1", "db-2"]
    assert all(pod["spec"]["nodeName"] and pod["status"]["phase"] == "Running" for pod in pods.values())
    assert [claim["status"]["phase"] for claim in claims(database)] == ["Bound"] * 3
    assert database.condition("Reconciling") == ("", "")


def test_a_new_version_rolls_out_pod_by_pod(cluster: Cluster, database: Database, tmp_path: Path) -> None:
    """The last pod goes first, the next one only when its follower is back; the conditions tell of each revision."""
    database.write(version="14", replicas=3)
    pods = Pods(cluster, database)
    slow = {"simulated/ready-after": "1s"}
    template = {"spec": {"template": {"metadata": {"annotations": slow}}}}
    eventually(lambda: database.client.merge(database.child_path("statefulsets"), template))
    eventually(lambda: all(pod["metadata"].get("annotations") == slow for pod in pods.all().values()), within=WITHIN)
    eventually(lambda: database.is_ready(3), within=WITHIN)
    pods.forget()
    with history(cluster, database, tmp_path / "history") as states:
        database.write(version="16", replicas=3)
        eventually(lambda: database.is_ready(3), within=WITHIN)
        eventually(lambda: states()[-1]["status"] == database.get()["status"])
        seen = [state["status"] for state in states() if state["spec"]["version"] == "16"]
    order = [act for number in (2, 1, 0) for act in (f"delete db-{number}", "create")]
    assert pods.done() == order
    assert pods.images() == ["postgres:16"] * 3
    assert min(status.get("readyReplicas", 0) for status in seen) == 2
    rolling = [status for status in seen if _ready(status)["reason"] == "RollingOut"]
    assert {1, 2} <= {status.get("updatedReplicas", 0) for status in rolling}
    assert _ready(seen[-1])["status"] == "True"
    assert seen[-1]["updatedReplicas"] == 3


def _ready(status: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in status["conditions"] if one["type"] == "Ready")
    return found


def test_kubectl_scale_goes_up_and_down_in_order(cluster: Cluster, database: Database) -> None:
    """``kubectl scale`` adds pods at the end and takes the last one first; volumes stay for the next time."""
    database.write(retention="Delete")
    eventually(lambda: database.is_ready(1), within=WITHIN)
    pods = Pods(cluster, database)
    scale = ("--namespace", database.namespace, "scale", "mydatabase", "db")
    cluster.kubectl(*scale, "--replicas=3")
    eventually(lambda: database.is_ready(3), within=WITHIN)
    pods.forget()
    cluster.kubectl(*scale, "--replicas=1")
    eventually(lambda: database.is_ready(1), within=WITHIN)
    assert pods.done() == ["delete db-2", "delete db-1"]
    assert sorted(pods.all()) == ["db-0"]
    assert len(claims(database)) == 3


def test_an_autoscaler_scales_it(cluster: Cluster, database: Database, tmp_path: Path) -> None:
    """A HorizontalPodAutoscaler follows the load, up and down, through the scale subresource and metrics.k8s.io."""
    database.write()
    eventually(lambda: database.is_ready(1), within=WITHIN)
    target = {"type": "Utilization", "averageUtilization": 50}
    spec = {
        "minReplicas": 1,
        "maxReplicas": 5,
        "scaleTargetRef": {"apiVersion": "example.com/v1", "kind": "MyDatabase", "name": "db"},
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
    }
    path = f"/apis/autoscaling/v2/namespaces/{database.namespace}/horizontalpodautoscalers/db"
    scaler = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "db"}}
    with metrics_api(cluster.server, tmp_path) as load:
        load.total = 200  # of a pod's 100m, half is to be used: four pods
        database.client.apply(path, {**scaler, "spec": spec})
        eventually(lambda: database.is_ready(4), within=WITHIN)
        assert database.get()["spec"]["replicas"] == 4
        load.total = 60
        eventually(lambda: database.is_ready(2), within=WITHIN)
        database.client.delete(path)


def test_a_pod_that_crashes_is_named_in_the_conditions(cluster: Cluster, database: Database) -> None:
    """Ready says which pod crash-loops, as long as it does, though nothing of the StatefulSet's spec has changed."""
    database.write(replicas=2)
    eventually(lambda: database.is_ready(2), within=WITHIN)
    pod = f"{Pods(cluster, database).path}/db-1"
    database.client.merge(pod, {"metadata": {"annotations": {"simulated/crash-loop": "true"}}})
    eventually(lambda: database.condition("Ready") == ("False", "CrashLoopBackOff"))
    assert _ready(database.get()["status"])["message"].startswith("pod db-1: back-off")
    database.client.merge(pod, {"metadata": {"annotations": {"simulated/crash-loop": None}}})
    eventually(lambda: database.is_ready(2), within=WITHIN)


@pytest.mark.parametrize(("retention", "kept"), [("Retain", {"data-db-0", "data-db-1"}), ("Delete", set())])
def test_deletion_leaves_only_what_is_to_be_kept(
    cluster: Cluster, database: Database, retention: str, kept: set[str]
) -> None:
    """Pods go last first, then the finalizer, and then nothing is left but the volumes that are to be retained."""
    of_every_namespace = {"ServiceAccount default", "ConfigMap kube-root-ca.crt"}
    eventually(lambda: contents(database) == of_every_namespace)
    database.write(replicas=2, retention=retention)
    eventually(lambda: database.is_ready(2), within=WITHIN)
    pods = Pods(cluster, database)
    pods.forget()
    database.client.delete(database.path)
    eventually(database.is_gone, within=WITHIN)
    assert pods.done() == ["delete db-1", "delete db-0"]
    mine = [record for record in pods.records() if record.is_write and record.code == 200]
    ended = [index for index, record in enumerate(mine) if (record.user, record.verb) == ("kwok", "delete")]
    let_go = [
        index for index, record in enumerate(mine) if (record.resource, record.user) == ("mydatabases", cluster.user)
    ]
    assert len(ended) == 2
    assert let_go[-1] > ended[-1]
    left = {f"PersistentVolumeClaim {name}" for name in kept}
    eventually(lambda: contents(database) == of_every_namespace | left, within=WITHIN)
    assert [claim for claim in claims(database) if claim["metadata"].get("ownerReferences")] == []


def test_it_survives_the_loss_of_half_of_the_nodes(simulated: SimulatedCluster, database: Database) -> None:
    """Twenty databases on six nodes: three nodes vanish and come back, and all databases are Ready again."""
    fleet = Fleet(database.client, database.namespace, count=20, replicas=2)
    fleet.write()
    fleet.wait(20, within=60)
    lost = sorted(simulated.ready_nodes())[: NODES // 2]
    hit = fleet.disturbed(lost)
    assert hit
    for node in lost:
        simulated.remove_node(node)
    fleet.wait(20 - len(hit), within=60)
    for node in lost:
        simulated.return_node(node)
    fleet.wait(20, within=60)
