"""FakeCluster and a real cluster's controllers agree: what is collected, what waits, what ends with a namespace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE, SECRET
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpTransport
from pyopscaffold.testing import FakeCluster
from tests.cluster.fake_conformance import Api

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyopscaffold.kube.gvk import GroupVersionKind
    from tests.cluster.fake_conformance import Json

DEADLINE = 40.0


@pytest.fixture(params=["fake", "real"])
async def api(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """Give a cluster in memory, and a simulated one."""
    if request.param == "fake":
        fake = FakeCluster()
        yield Api(fake.transport, "default", fake)
        return
    server = request.getfixturevalue("cluster")
    transport = HttpTransport(load(server.kubeconfig()), user_agent="pyopscaffold")
    yield Api(transport, request.getfixturevalue("cluster_namespace"))
    await transport.close()


async def _make(
    api: Api, name: str, *owners: Json, kind: GroupVersionKind = CONFIG_MAP, blocks: bool = True, **metadata: Any
) -> Json:
    references = [
        {"apiVersion": owner["apiVersion"], "kind": owner["kind"], **_identity(owner), "blockOwnerDeletion": blocks}
        for owner in owners
    ]
    body = {"metadata": {"name": name, "ownerReferences": references, **metadata}}
    made = await api.create(body, kind=kind)
    assert made.code == 201
    found: Json = made.body
    return found


def _identity(owner: Json) -> Json:
    return {name: owner["metadata"][name] for name in ("name", "uid")}


async def _gone(api: Api, name: str, *, kind: GroupVersionKind = CONFIG_MAP) -> None:
    """Wait until an object is gone: at once in memory, within the collector's time elsewhere."""
    async with asyncio.timeout(1 if api.fake else DEADLINE):
        while (await api.get(name, kind=kind)).code != 404:
            assert api.fake is None, f"{name} is still there"
            await asyncio.sleep(0.1)


async def _owners(api: Api, name: str, count: int) -> list[str]:
    """Wait until an object has so many owners, and return their names."""
    async with asyncio.timeout(1 if api.fake else DEADLINE):
        while True:
            found = (await api.get(name, kind=CONFIG_MAP)).metadata.get("ownerReferences", [])
            if len(found) == count:
                return [owner["name"] for owner in found]
            assert api.fake is None, f"{name} has the owners {found}"
            await asyncio.sleep(0.1)


async def test_children_and_theirs_go_with_their_owner(api: Api) -> None:
    """In the background, dependents are collected all the way down."""
    owner = await _make(api, "owner")
    child = await _make(api, "child", owner)
    await _make(api, "grandchild", child, kind=SECRET)
    await api.delete("owner", kind=CONFIG_MAP, propagationPolicy="Background")
    assert (await api.get("owner", kind=CONFIG_MAP)).code == 404
    await _gone(api, "child")
    await _gone(api, "grandchild", kind=SECRET)


async def test_the_last_owner_counts(api: Api) -> None:
    """A child of two stays with the other, and loses the reference."""
    one, two = await _make(api, "one"), await _make(api, "two")
    await _make(api, "shared", one, two)
    await api.delete("one", kind=CONFIG_MAP, propagationPolicy="Background")
    assert await _owners(api, "shared", 1) == ["two"]
    await api.delete("two", kind=CONFIG_MAP, propagationPolicy="Background")
    await _gone(api, "shared")


async def test_orphans_stay(api: Api) -> None:
    """Orphaned children live on without their owner."""
    owner = await _make(api, "owner")
    await _make(api, "child", owner)
    await api.delete("owner", kind=CONFIG_MAP, propagationPolicy="Orphan")
    await _gone(api, "owner")
    assert await _owners(api, "child", 0) == []


async def test_foreground_deletion_waits_for_the_children(api: Api) -> None:
    """The owner goes last: it waits for a child that is held."""
    owner = await _make(api, "owner")
    await _make(api, "child", owner, finalizers=["example.com/hold"])
    marked = await api.delete("owner", kind=CONFIG_MAP, propagationPolicy="Foreground")
    assert marked.metadata["finalizers"] == ["foregroundDeletion"]
    async with asyncio.timeout(DEADLINE):
        while "deletionTimestamp" not in (await api.get("child", kind=CONFIG_MAP)).metadata:
            assert api.fake is None, "the child is not deleted"
            await asyncio.sleep(0.1)
    assert (await api.get("owner", kind=CONFIG_MAP)).code == 200
    path = api.path("child", kind=CONFIG_MAP)
    merge = "application/merge-patch+json"
    await api.ask("PATCH", path, {"metadata": {"finalizers": None}}, content_type=merge)
    await _gone(api, "owner")


async def test_foreground_deletion_waits_for_no_others(api: Api) -> None:
    """A child that does not block the deletion of its owner is deleted as well, and outlives it where it is held."""
    owner = await _make(api, "owner")
    await _make(api, "child", owner, blocks=False, finalizers=["example.com/hold"])
    await api.delete("owner", kind=CONFIG_MAP, propagationPolicy="Foreground")
    await _gone(api, "owner")
    assert (await api.get("child", kind=CONFIG_MAP)).code == 200


async def test_owners_that_never_were(api: Api) -> None:
    """A child of an owner of another uid is collected; one of an unknown kind is not."""
    owner = await _make(api, "owner")
    await _make(api, "unknown", {**owner, "apiVersion": "nowhere.example.com/v1", "kind": "Nothing"})
    former = {**owner, "metadata": {"name": "owner", "uid": "00000000-0000-4000-8000-000000000000"}}
    await _make(api, "left-over", former)
    await _gone(api, "left-over")
    assert (await api.get("unknown", kind=CONFIG_MAP)).code == 200


async def test_namespaces_end(api: Api) -> None:
    """A namespace takes all that is in it along."""
    made = await api.create({"metadata": {"generateName": "ending-"}}, kind=NAMESPACE)
    there = Api(api.transport, made.metadata["name"], api.fake)
    await _make(there, "child", await _make(there, "owner"))
    assert (await api.delete(there.namespace, kind=NAMESPACE)).body["status"]["phase"] == "Terminating"
    await _gone(there, "child")
    await _gone(api, there.namespace, kind=NAMESPACE)
