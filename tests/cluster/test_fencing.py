"""Writes in a reconcile of a sharded operator, against the real server: what is late is refused, all else succeeds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import NotFound
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpTransport
from pyopscaffold.runtime.clock import SystemClock
from pyopscaffold.runtime.fencing import HELD, FencedClient, Grant
from pyopscaffold.runtime.outcome import OwnershipLostError
from tests.cluster.widgets import GROUP, Cluster, Widget, config_map

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from pyopscaffold.testing import ApiServer

    Write = Callable[["Reconcile"], Awaitable[Any]]

WIDGET = gvk_of(Widget)


@dataclass
class Reconcile:
    """A reconcile of the Widget ``one`` whose cache has stood still since it began.

    ``checks`` are the answers to whether it may still write, one for each write; the last one stays.
    """

    client: FencedClient
    cluster: Cluster
    checks: list[float] = field(default_factory=lambda: [10.0])

    def left(self) -> float:
        """For how many seconds it may yet write."""
        return self.checks.pop(0) if len(self.checks) > 1 else self.checks[0]

    @property
    def child(self) -> dict[str, Any]:
        """The child that it applies, of the name ``one`` as well."""
        owner = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "name": "one", "controller": True}
        owner["uid"] = self.cluster.widget("one")["metadata"]["uid"]
        body = config_map("one", "ours")
        body["metadata"] |= {"namespace": self.cluster.namespace, "ownerReferences": [owner]}
        return body

    async def apply(self) -> None:
        """Apply the child."""
        await self.client.apply(self.child, field_manager="widget")

    async def status(self) -> None:
        """Apply the Widget's status."""
        metadata = {"name": "one", "namespace": self.cluster.namespace}
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "metadata": metadata, "status": {"calls": 7}}
        await self.client.apply(body, field_manager="widget", subresource="status")

    async def merge(self) -> None:
        """Patch the Widget by JSON merge."""
        patch = {"metadata": {"labels": {"ours": "yes"}}}
        await self.client.patch(WIDGET, "one", patch, namespace=self.cluster.namespace)

    async def steps(self) -> None:
        """Patch the Widget by a JSON patch."""
        patch = [{"op": "add", "path": "/metadata/labels", "value": {"ours": "yes"}}]
        await self.client.patch(WIDGET, "one", patch, namespace=self.cluster.namespace, patch_type="json")

    async def delete(self) -> None:
        """Delete the child."""
        await self.client.delete(CONFIG_MAP, "one", namespace=self.cluster.namespace)


@pytest.fixture
async def reconcile(api_server: ApiServer, cluster: Cluster) -> AsyncIterator[Reconcile]:
    """Give a reconcile that knows the Widget ``one``, and its child if there is one."""
    client = FencedClient(HttpTransport(load(api_server.kubeconfig()), user_agent="fenced"))
    made = Reconcile(client, cluster)
    cluster.apply("one")
    cluster.client.apply(cluster.config_map_path("one"), config_map("one", "before"))
    cache = Cache(client, clock=SystemClock(), namespace=cluster.namespace)
    for kind in (WIDGET, CONFIG_MAP):
        cache.informer(kind)
    client.fence_by(cache)
    running = asyncio.create_task(cache.run())
    await cache.wait_synced()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    token = HELD.set(Grant("shard-1", made.left))
    yield made
    HELD.reset(token)
    await client.close()


def take_over(cluster: Cluster) -> tuple[int, int]:
    """Touch both objects as a new owner does, and give their versions."""
    for path in (cluster.widget_path("one"), cluster.config_map_path("one")):
        cluster.client.merge(path, {"metadata": {"annotations": {"taken": "over"}}})
    return versions(cluster)


def versions(cluster: Cluster) -> tuple[int, int]:
    """Give the versions of both objects."""
    found = (cluster.widget("one"), cluster.config_map("one"))
    return int(found[0]["metadata"]["resourceVersion"]), int(found[1]["metadata"]["resourceVersion"])


WRITES = [Reconcile.apply, Reconcile.status, Reconcile.merge, Reconcile.steps, Reconcile.delete]


@pytest.mark.parametrize("write", WRITES)
async def test_late_writes_change_nothing(reconcile: Reconcile, cluster: Cluster, write: Write) -> None:
    """A write that was checked in time, and comes when a new owner has touched the object, is refused by the server."""
    taken = take_over(cluster)
    reconcile.checks = [10.0, 0.0]
    with pytest.raises(OwnershipLostError):
        await write(reconcile)
    assert versions(cluster) == taken


@pytest.mark.parametrize("write", WRITES)
async def test_others_changes_cost_the_owner_nothing(reconcile: Reconcile, cluster: Cluster, write: Write) -> None:
    """While it may write, what others have changed is read anew and the write repeated."""
    before = take_over(cluster)
    await write(reconcile)
    if write is Reconcile.delete:
        assert not cluster.exists(cluster.config_map_path("one"))
    else:
        assert versions(cluster) != before


@pytest.mark.parametrize("write", WRITES)
async def test_nothing_is_sent_when_time_is_over(
    reconcile: Reconcile, cluster: Cluster, api_server: ApiServer, write: Write
) -> None:
    """A write that is checked too late does not leave the process."""
    reconcile.checks = [0.0]
    with pytest.raises(OwnershipLostError):
        await write(reconcile)
    sent = [each for each in api_server.audit_log.records() if each.namespace == cluster.namespace and each.is_write]
    assert [each.verb for each in sent if each.user_agent == "fenced"] == []


async def test_a_late_apply_makes_nothing_anew(reconcile: Reconcile, cluster: Cluster) -> None:
    """A child that the new owner has deleted stays away, though an apply could make it."""
    cluster.client.delete(cluster.config_map_path("one"))
    reconcile.checks = [10.0, 0.0]
    with pytest.raises(OwnershipLostError):
        await reconcile.apply()
    assert not cluster.exists(cluster.config_map_path("one"))


@pytest.mark.parametrize("late", [True, False])
async def test_an_apply_that_knows_no_child_only_creates(reconcile: Reconcile, cluster: Cluster, *, late: bool) -> None:
    """A child that the cache does not know is made, and one that is there after all is overwritten in time only."""
    cluster.client.apply(cluster.config_map_path("two"), config_map("two", "theirs"))
    body = config_map("two", "ours")
    body["metadata"]["namespace"] = cluster.namespace
    fresh = config_map("three", "ours")
    fresh["metadata"]["namespace"] = cluster.namespace
    await reconcile.client.apply(fresh, field_manager="widget")
    assert cluster.config_map("three")["data"] == {"text": "ours"}
    reconcile.checks = [10.0, 0.0] if late else [10.0]
    try:
        await reconcile.client.apply(body, field_manager="widget")
    except OwnershipLostError:
        assert late
    assert cluster.config_map("two")["data"] == {"text": "theirs" if late else "ours"}


async def test_a_child_says_whose_it_is(reconcile: Reconcile, cluster: Cluster) -> None:
    """The stamp is on the child, so that the first apply of a new owner changes it for certain."""
    await reconcile.apply()
    assert cluster.config_map("one")["metadata"]["annotations"] == {f"{GROUP}/widget-shard": "shard-1"}


async def test_what_is_gone_is_not_found(reconcile: Reconcile, cluster: Cluster) -> None:
    """Errors of the server that are no conflicts come through as they are."""
    with pytest.raises(NotFound):
        await reconcile.client.delete(CONFIG_MAP, "nowhere", namespace=cluster.namespace)
