"""The example operator, under its generated RBAC, on a real API server; a stand-in plays the StatefulSet controller."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.kube.builtin import SERVICE, STATEFUL_SET
from pyopscaffold.testing import eventually, eventually_async
from tests.e2e.mydatabase_cluster import EXAMPLE

if TYPE_CHECKING:
    from pyopscaffold.runtime.manager import Manager
    from tests.e2e.mydatabase_cluster import Cluster, Database

pytestmark = pytest.mark.xdist_group("e2e-mydatabase")


def test_it_becomes_ready(cluster: Cluster, database: Database) -> None:
    """A database gets a headless Service and a StatefulSet, and is Ready once its pods are."""
    cluster.start_operator(database.namespace)
    database.write(replicas=3)
    eventually(lambda: database.is_ready(3))
    assert database.condition("Validated") == ("True", "SpecValid")
    assert database.condition("Reconciling") == ("", "")
    assert database.child("services")["spec"]["clusterIP"] == "None"
    assert database.child()["metadata"]["ownerReferences"][0]["uid"] == database.get()["metadata"]["uid"]


def test_it_scales_by_the_scale_subresource(cluster: Cluster, database: Database) -> None:
    """``kubectl scale`` reaches the StatefulSet, and the scale subresource shows pods and selector."""
    cluster.start_operator(database.namespace)
    database.write()
    eventually(lambda: database.is_ready(1))
    database.client.merge(f"{database.path}/scale", {"spec": {"replicas": 4}})
    eventually(lambda: database.is_ready(4))
    assert database.child()["spec"]["replicas"] == 4
    scale = database.client.get(f"{database.path}/scale")
    assert scale["status"]["replicas"] == 4
    assert "app.kubernetes.io/instance=db" in scale["status"]["selector"]


def test_an_edit_by_hand_is_put_back(cluster: Cluster, database: Database) -> None:
    """A field that the operator owns does not stay changed; one that it does not own is left alone."""
    cluster.start_operator(database.namespace)
    database.write(replicas=2)
    eventually(lambda: database.is_ready(2))
    change = {"metadata": {"annotations": {"team": "a"}}, "spec": {"replicas": 7}}
    database.client.merge(database.child_path("statefulsets"), change)
    eventually(lambda: database.child()["spec"]["replicas"] == 2)
    assert database.child()["metadata"]["annotations"]["team"] == "a"


@pytest.mark.parametrize("plural", ["statefulsets", "services"])
def test_a_deleted_child_comes_back(cluster: Cluster, database: Database, plural: str) -> None:
    """A child that somebody deletes is made anew."""
    cluster.start_operator(database.namespace)
    database.write()
    eventually(lambda: database.is_ready(1))
    before = database.child(plural)["metadata"]["uid"]
    database.client.delete(database.child_path(plural))
    eventually(lambda: database.child(plural)["metadata"]["uid"] != before)
    eventually(lambda: database.is_ready(1))


def test_a_new_version_rolls_out(cluster: Cluster, database: Database) -> None:
    """The database is Ready again only when all pods run the new version."""
    cluster.start_operator(database.namespace)
    database.write(version="14", replicas=2)
    eventually(lambda: database.is_ready(2))
    database.write(version="16", replicas=2)
    eventually(lambda: database.is_ready(2))
    child = database.child()
    assert child["spec"]["template"]["spec"]["containers"][0]["image"] == "postgres:16"
    assert child["status"]["currentRevision"] == child["status"]["updateRevision"]


def test_a_killed_operator_is_continued(cluster: Cluster, database: Database) -> None:
    """SIGKILL in the middle of a roll-out, then a change, then a new process: it converges."""
    first = cluster.start_operator(database.namespace)
    database.write(replicas=5)
    eventually(lambda: database.child().get("status", {}).get("readyReplicas", 0) >= 1)
    first.kill()
    database.write(replicas=3, version="15")
    cluster.start_operator(database.namespace)
    eventually(lambda: database.is_ready(3))
    assert database.child()["spec"]["template"]["spec"]["containers"][0]["image"] == "postgres:15"


def test_deletion_leaves_nothing(cluster: Cluster, database: Database) -> None:
    """The finalizer stops the pods, then the database and its children go."""
    cluster.start_operator(database.namespace)
    database.write(replicas=3)
    eventually(lambda: database.is_ready(3))
    database.client.delete(database.path)
    eventually(database.is_gone)


def test_other_storage_is_refused_without_a_hot_loop(cluster: Cluster, database: Database) -> None:
    """A change of the immutable claims gives conditions and one event, stops, and continues once set back."""
    operator = cluster.start_operator(database.namespace)
    database.write(storage="1Gi")
    eventually(lambda: database.is_ready(1))
    database.write(storage="2Gi", replicas=2)
    eventually(lambda: database.condition("Stalled") == ("True", "ImmutableStorage"))
    assert database.condition("Validated") == ("False", "ImmutableStorage")
    assert database.condition("Ready")[0] == "False"

    def warnings() -> list[dict[str, Any]]:
        events = database.client.get(f"/apis/events.k8s.io/v1/namespaces/{database.namespace}/events")["items"]
        return [event for event in events if event["reason"] == "ImmutableStorage"]

    eventually(warnings)
    # By the time that another database has become ready, a hot loop would have left many lines and a series.
    writes_settled(cluster, database)
    assert operator.log.read_text().count("reconcile failed") == 1
    assert [event.get("series") for event in warnings()] == [None]
    database.write(storage="1Gi", replicas=2)
    eventually(lambda: database.is_ready(2))
    assert database.condition("Stalled") == ("", "")


def test_two_operators_do_not_fight(cluster: Cluster, database: Database) -> None:
    """Without a lease both act; once converged neither writes, whatever events they get."""
    cluster.start_operator(database.namespace)
    cluster.start_operator(database.namespace)
    database.write(replicas=2)
    eventually(lambda: database.is_ready(2))
    writes = writes_settled(cluster, database)
    database.client.merge(database.path, {"metadata": {"annotations": {"poke": "1"}}})
    database.client.merge(database.child_path("services"), {"metadata": {"annotations": {"poke": "1"}}})
    database.client.merge(database.child_path("services"), {"spec": {"sessionAffinity": "None"}})
    assert writes_settled(cluster, database) == writes


def test_one_of_two_with_a_lease_acts(cluster: Cluster, database: Database) -> None:
    """The second operator waits for the lease, and takes over when the first gives it up."""
    lease = ("--leader-elect", "--leader-election-id", "mydatabase-leader")
    first = cluster.start_operator(database.namespace, *lease)
    eventually(lambda: "leading" in first.log.read_text())
    second = cluster.start_operator(database.namespace, *lease)
    database.write()
    eventually(lambda: database.is_ready(1))
    assert "leading" not in second.log.read_text()
    assert first.stop() == 0
    database.write(replicas=2)
    eventually(lambda: database.is_ready(2))


async def test_relists_write_nothing(cluster: Cluster, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owned field edited by hand is restored; then two forced relists of every kind cause no write."""
    monkeypatch.syspath_prepend(EXAMPLE)
    manager = in_process(cluster, database.namespace)
    running = asyncio.create_task(manager.run())
    try:
        await asyncio.to_thread(database.write, replicas=2)
        await eventually_async(lambda: database.is_ready(2))
        edit = {"spec": {"replicas": 6}}
        await asyncio.to_thread(database.client.merge, database.child_path("statefulsets"), edit)
        await eventually_async(lambda: database.child()["spec"]["replicas"] == 2)
        await eventually_async(lambda: database.is_ready(2))
        writes = await asyncio.to_thread(writes_settled, cluster, database)
        for _ in range(2):
            await relist_all(manager)
        assert await asyncio.to_thread(writes_settled, cluster, database) == writes
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def relist_all(manager: Manager) -> None:
    """Make every informer of the example list anew, and wait until each has."""
    from mydatabase.api.v1.my_database import MyDatabase  # noqa: PLC0415 - on the path by now

    informers = [manager.cache.informer(kind) for kind in (MyDatabase, STATEFUL_SET, SERVICE)]
    before = [informer.relists for informer in informers]
    for informer in informers:
        informer.relist()
    await eventually_async(lambda: all(now.relists > then for now, then in zip(informers, before, strict=True)))


def in_process(cluster: Cluster, namespace: str) -> Manager:
    """Make the example's manager in this process, so that its cache can be told to relist."""
    from mydatabase.controllers.my_database import MyDatabaseReconciler  # noqa: PLC0415 - on the path by now

    from pyopscaffold.runtime.manager import Manager  # noqa: PLC0415 - aiohttp is for this test only
    from pyopscaffold.runtime.options import Options  # noqa: PLC0415 - beside it

    options = Options(
        kubeconfig=cluster.kubeconfig,
        namespaces=(namespace,),
        metrics_bind_address="0",
        health_probe_bind_address="0",
    )
    return Manager([MyDatabaseReconciler], options=options)


def writes_settled(cluster: Cluster, database: Database) -> int:
    """Count the operators' writes in the namespace once both have passed a mark: a second database of their own."""
    mark = f"{database.path.rpartition('/')[0]}/mark"
    body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": "mark"}, "spec": {}}
    database.client.apply(mark, body, manager="user")

    def ready() -> bool:
        conditions = database.client.get(mark).get("status", {}).get("conditions", [])
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    eventually(ready)
    database.client.delete(mark)
    eventually(lambda: not database.client.get(f"{database.path.rpartition('/')[0]}")["items"][1:])
    records = cluster.server.audit_log.records(user=cluster.user)
    mine = (record for record in records if record.namespace == database.namespace and record.name == "db")
    return sum(record.is_write for record in mine)


def test_nothing_was_refused(cluster: Cluster, database: Database) -> None:
    """In a whole life of a database, the generated RBAC grants all that the operator asks for."""
    cluster.start_operator(database.namespace, "--leader-elect", "--leader-election-id", "mydatabase-leader")
    database.write()
    eventually(lambda: database.is_ready(1))
    database.client.delete(database.path)
    eventually(database.is_gone)
    records = cluster.server.audit_log.records(user=cluster.user)
    assert records
    assert [record for record in records if record.code in {401, 403}] == []
