from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import StandIn, eventually
from pyopscaffold.testing.discovery import create_namespace
from tests.cluster.envtest_helpers import WIDGET_CRD, WIDGETS, config_map, exists, owned_by, stateful_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer, ControlPlane, RestClient
    from pyopscaffold.testing.plugin import ControlPlanes


@pytest.fixture(scope="module")
def plane(control_planes: ControlPlanes) -> Iterator[ControlPlane]:
    """Run a control plane whose missing controllers are played."""
    plane = control_planes(audit=True)
    with StandIn(plane.server, step=0.05):
        yield plane


@pytest.fixture
def server(plane: ControlPlane) -> ApiServer:
    """Give its API server."""
    return plane.server


@pytest.fixture
def client(server: ApiServer) -> RestClient:
    """Give its admin."""
    return server.client()


@pytest.fixture
def core(client: RestClient) -> str:
    """Give the path of a fresh namespace."""
    return f"/api/v1/namespaces/{create_namespace(client)}"


def settled(client: RestClient, path: str, replicas: int) -> bool:
    """Tell whether a StatefulSet has all its replicas ready, of one revision, for its newest generation."""
    found = client.get(path)
    status = found["status"]
    return bool(
        status.get("observedGeneration") == found["metadata"]["generation"]
        and status.get("readyReplicas", 0) == status["replicas"] == status.get("updatedReplicas", 0) == replicas
        and status["currentRevision"] == status["updateRevision"]
    )


def test_a_stateful_set_becomes_ready_rolls_and_scales(client: RestClient, core: str) -> None:
    """A StatefulSet reaches its replicas, takes a new template, and shrinks, as if it had Pods."""
    path = core.replace("/api/v1", "/apis/apps/v1") + "/statefulsets/db"
    wanted = stateful_set("db", replicas=2)
    client.apply(path, wanted)
    eventually(lambda: settled(client, path, 2))
    revision = client.get(path)["status"]["currentRevision"]
    wanted["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/image:2"
    client.apply(path, wanted)
    eventually(lambda: settled(client, path, 2) and client.get(path)["status"]["currentRevision"] != revision)
    client.merge(f"{path}/scale", {"spec": {"replicas": 0}})
    eventually(lambda: settled(client, path, 0))


def test_a_settled_cluster_is_left_alone(server: ApiServer, client: RestClient, core: str) -> None:
    """Once everything is as it should be the stand-in only reads."""
    path = core.replace("/api/v1", "/apis/apps/v1") + "/statefulsets/db"
    client.apply(path, stateful_set("db", replicas=1))
    eventually(lambda: settled(client, path, 1))
    start = len(server.audit_log.records())

    def rounds() -> int:
        records = server.audit_log.records(skip=start)
        return sum(one.resource == "statefulsets" and one.user_agent == "pyopscaffold-stand-in" for one in records)

    eventually(lambda: rounds() >= 5)
    writes = [one for one in server.audit_log.records(skip=start) if one.is_write and one.uri.startswith(path)]
    assert writes == []


def test_children_go_with_their_owner(client: RestClient, core: str) -> None:
    """When the owner is gone, its child and the child's own child go; what has no owner stays."""
    maps = f"{core}/configmaps"
    owner = client.create(maps, config_map("owner"))
    child = client.create(maps, config_map("child", ownerReferences=owned_by(owner)))
    client.create(maps, config_map("grandchild", ownerReferences=owned_by(child)))
    client.create(maps, config_map("stranger"))
    client.delete(f"{maps}/owner")
    eventually(lambda: not exists(client, f"{maps}/child") and not exists(client, f"{maps}/grandchild"))
    assert exists(client, f"{maps}/stranger")


def test_a_child_of_two_owners_stays_for_the_second(client: RestClient, core: str) -> None:
    """A child goes only with the last of its owners."""
    maps = f"{core}/configmaps"
    first, second = (client.create(maps, config_map(name)) for name in ("first", "second"))
    client.create(maps, config_map("child", ownerReferences=[*owned_by(first), *owned_by(second)]))
    client.create(maps, config_map("only", ownerReferences=owned_by(first)))
    client.delete(f"{maps}/first")
    eventually(lambda: not exists(client, f"{maps}/only"))
    assert exists(client, f"{maps}/child")
    client.delete(f"{maps}/second")
    eventually(lambda: not exists(client, f"{maps}/child"))


@pytest.fixture
def widget(client: RestClient, core: str) -> dict[str, Any]:
    """Make a custom object, of a kind that the server has only just learnt."""
    client.apply(WIDGETS, WIDGET_CRD)
    path = core.replace("/api/v1", "/apis/envtest.example.com/v1") + "/widgets"
    body = {"apiVersion": "envtest.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    created: dict[str, Any] = eventually(lambda: client.create(path, body))
    return created


def test_foreground_deletion_takes_children_first(client: RestClient, core: str, widget: dict[str, Any]) -> None:
    """An owner that is deleted in the foreground waits for its child, whose own finalizer is honoured."""
    child, path = f"{core}/configmaps/child", f"{core}/widgets/w".replace("/api/v1", "/apis/envtest.example.com/v1")
    metadata = {"ownerReferences": owned_by(widget), "finalizers": ["example.com/hold"]}
    client.create(f"{core}/configmaps", config_map("child", **metadata))
    client.delete(path, policy="Foreground")
    eventually(lambda: "deletionTimestamp" in client.get(child)["metadata"])
    assert exists(client, path)
    left = [one for one in client.get(child)["metadata"]["finalizers"] if one != "example.com/hold"]
    client.merge(child, {"metadata": {"finalizers": left}})
    eventually(lambda: not exists(client, child) and not exists(client, path))


def test_foreground_deletion_leaves_a_child_to_its_other_owner(
    client: RestClient, core: str, widget: dict[str, Any]
) -> None:
    """An owner that goes does not wait for a child that somebody else owns as well; the child forgets it."""
    child, path = f"{core}/configmaps/child", f"{core}/widgets/w".replace("/api/v1", "/apis/envtest.example.com/v1")
    other = client.create(f"{core}/configmaps", config_map("other"))
    owners = [*owned_by(widget), *owned_by(other)]
    client.create(f"{core}/configmaps", config_map("child", ownerReferences=owners))
    client.delete(path, policy="Foreground")
    eventually(lambda: not exists(client, path))
    assert [owner["name"] for owner in client.get(child)["metadata"]["ownerReferences"]] == ["other"]


def test_an_owner_without_children_is_let_go(client: RestClient, core: str, widget: dict[str, Any]) -> None:
    """Foreground deletion of an object that owns nothing ends as well."""
    path = core.replace("/api/v1", "/apis/envtest.example.com/v1") + "/widgets/w"
    client.delete(path, policy="Foreground")
    eventually(lambda: not exists(client, path))


def test_orphaned_children_stay(client: RestClient, core: str, widget: dict[str, Any]) -> None:
    """With the policy Orphan the owner goes and its child forgets it."""
    child, path = f"{core}/configmaps/child", f"{core}/widgets/w".replace("/api/v1", "/apis/envtest.example.com/v1")
    client.create(f"{core}/configmaps", config_map("child", ownerReferences=owned_by(widget)))
    client.delete(path, policy="Orphan")
    eventually(lambda: not exists(client, path))
    assert "ownerReferences" not in client.get(child)["metadata"]


def test_a_deleted_namespace_ends(client: RestClient, core: str) -> None:
    """A namespace is emptied and goes, which a bare API server never does."""
    client.create(f"{core}/configmaps", config_map("one"))
    client.delete(core)
    eventually(lambda: not exists(client, core))


def test_an_outage_does_not_end_it(plane: ControlPlane, client: RestClient, core: str) -> None:
    """The stand-in goes on after the API server was away."""
    plane.stop_api_server(grace=0)
    plane.start_api_server()
    path = core.replace("/api/v1", "/apis/apps/v1") + "/statefulsets/db"
    client.apply(path, stateful_set("db", replicas=1))
    eventually(lambda: settled(client, path, 1))
