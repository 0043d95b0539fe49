"""MyDatabase: the desired state and the status by themselves, and all of it on a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyopscaffold.api import ObjectMeta
from pyopscaffold.runtime import TerminalError, conditions
from pyopscaffold.testing import StandIn, eventually

from mydatabase.api.v1.my_database import (
    MyDatabase,
    MyDatabaseSpec,
)
from mydatabase.controllers.my_database import changes, owner, report, service, stateful_set, validate

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer


def my_database(**spec: Any) -> MyDatabase:
    """Make a MyDatabase as a user would write it."""
    return MyDatabase(
        metadata=ObjectMeta(name="sample", namespace="default", generation=1),
        spec=MyDatabaseSpec(**spec),
    )


def running(db: MyDatabase, *, ready: int, revisions: tuple[str, str] = ("a", "a")) -> dict[str, Any]:
    """Give the StatefulSet of a database as a cluster would report it."""
    child = stateful_set(db, replicas=db.spec.replicas)
    child["metadata"]["generation"] = 1
    child["status"] = {
        "observedGeneration": 1,
        "replicas": db.spec.replicas,
        "readyReplicas": ready,
        "updatedReplicas": ready,
        "currentRevision": revisions[0],
        "updateRevision": revisions[1],
    }
    return child


def waiting(name: str, reason: str) -> dict[str, Any]:
    """Give a pod whose container can't start, as the kubelet would report it."""
    status = {"name": "postgres", "state": {"waiting": {"reason": reason, "message": "back-off 10s"}}}
    owner = {"kind": "StatefulSet", "name": "sample"}
    metadata = {"name": name, "namespace": "default", "ownerReferences": [owner]}
    return {"metadata": metadata, "status": {"containerStatuses": [status]}}


def state(db: MyDatabase, kind: str) -> tuple[str, str]:
    """Give a condition's status and reason; empty where it is not there."""
    found = conditions.get(db, kind)
    return (found.status, found.reason) if found else ("", "")


def test_the_stateful_set_runs_the_version_on_as_many_pods() -> None:
    """Version, replicas and storage of the spec arrive in the StatefulSet."""
    spec = stateful_set(my_database(version="16", replicas=3, storage="5Gi"), replicas=3)["spec"]
    assert spec["replicas"] == 3
    assert spec["template"]["spec"]["containers"][0]["image"] == "postgres:16"
    assert spec["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] == {"storage": "5Gi"}


@pytest.mark.parametrize("retention", ["Retain", "Delete"])
def test_the_volumes_are_kept_or_dropped_with_the_database_only(retention: str) -> None:
    """The policy of the spec holds for deletion; scaling down never drops a volume."""
    spec = stateful_set(my_database(retention=retention), replicas=1)["spec"]
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": retention, "whenScaled": "Retain"}


def test_service_and_stateful_set_agree() -> None:
    """The headless Service selects the pods of the StatefulSet that names it."""
    db = my_database()
    child = stateful_set(db, replicas=1)
    assert child["spec"]["serviceName"] == service(db)["metadata"]["name"]
    assert child["spec"]["template"]["metadata"]["labels"] == service(db)["spec"]["selector"]


@pytest.mark.parametrize("storage", ["1Gi", "1024Mi", None])
def test_the_same_storage_in_other_words_is_no_change(storage: str | None) -> None:
    """Quantities are compared by value, and unset means 1Gi."""
    db = my_database(storage=storage)
    validate(db, running(my_database(storage="1Gi"), ready=1))
    assert state(db, "Validated") == ("True", "SpecValid")


@pytest.mark.parametrize(
    ("spec", "reason"), [({"storage": "2Gi"}, "ImmutableStorage"), ({"version": "9"}, "UnsupportedVersion")]
)
def test_a_spec_that_cannot_be_carried_out_is_refused(spec: dict[str, str], reason: str) -> None:
    """Other storage, or a version too old, stops the work until the spec changes."""
    db = my_database(**spec)
    with pytest.raises(TerminalError):
        validate(db, running(my_database(), ready=1))
    assert state(db, "Validated") == ("False", reason)


def test_changes_are_announced() -> None:
    """Each change of version and pod count gets an event, and a new StatefulSet one."""
    before = running(my_database(version="14", replicas=1), ready=1)
    after = my_database(version="16", replicas=3)
    assert [reason for reason, _ in changes(after, None)] == ["Created"]
    assert [reason for reason, _ in changes(after, before)] == ["VersionChanged", "Scaled"]
    assert changes(my_database(), before) == []


@pytest.mark.parametrize(
    ("ready", "revisions", "expected"),
    [
        (3, ("a", "a"), ("True", "AllPodsReady")),
        (2, ("a", "a"), ("False", "WaitingForPods")),
        (3, ("a", "b"), ("False", "RollingOut")),
    ],
)
def test_it_is_ready_once_all_pods_serve(ready: int, revisions: tuple[str, str], expected: tuple[str, str]) -> None:
    """Ready needs every pod, on the newest revision; until then it reconciles."""
    db = my_database(replicas=3)
    report(db, running(db, ready=ready, revisions=revisions), [])
    assert state(db, "Ready") == expected
    assert state(db, "Reconciling")[0] == ("" if expected[0] == "True" else "True")
    assert db.status.ready_replicas == db.status.updated_replicas == ready


def test_a_pod_that_cannot_start_is_named() -> None:
    """Ready has the reason and the pod of the first one in trouble, while the roll-out goes on; one that starts is none."""
    db = my_database(replicas=3)
    child = running(db, ready=0, revisions=("a", "b"))
    report(db, child, [waiting("sample-2", "CrashLoopBackOff"), waiting("sample-1", "ContainerCreating")])
    assert state(db, "Ready") == ("False", "CrashLoopBackOff")
    assert state(db, "Reconciling") == ("True", "RollingOut")
    found = conditions.get(db, "Ready")
    assert found
    assert found.message == "pod sample-2: back-off 10s"


def test_pods_lead_to_their_database() -> None:
    """A pod's change is a matter of the database that its StatefulSet is called after; other pods are nobody's."""
    assert owner(waiting("sample-0", "CrashLoopBackOff")) == [("default", "sample")]
    assert owner({"metadata": {"name": "bare", "namespace": "default"}}) == []


def test_it_reconciles_on_an_api_server(api_server: ApiServer, namespace: str, operator: None) -> None:
    """From a spec to ready pods, through a new version, to nothing left."""
    client = api_server.client()
    path = f"/apis/example.com/v1/namespaces/{namespace}/mydatabases/sample"
    child = f"/apis/apps/v1/namespaces/{namespace}/statefulsets/sample"

    def write(**spec: Any) -> None:
        body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": "sample"}, "spec": spec}
        client.apply(path, body)

    def is_ready(pods: int) -> bool:
        found = client.get(path)
        status = found.get("status", {})
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
        fresh = status.get("observedGeneration") == found["metadata"]["generation"]
        return ready and fresh and bool(status["readyReplicas"] == pods)

    with StandIn(api_server):
        write(version="14", replicas=2)
        eventually(lambda: is_ready(2))
        write(version="16", replicas=2)
        image = "postgres:16"
        eventually(lambda: client.get(child)["spec"]["template"]["spec"]["containers"][0]["image"] == image)
        eventually(lambda: is_ready(2))
        client.delete(path)
        items = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
        eventually(lambda: client.get(items)["items"] == [])
        eventually(lambda: client.get(path.rpartition("/")[0])["items"] == [])
