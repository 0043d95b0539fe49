"""The cache against a real API server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import NotFound
from pyopscaffold.kube.builtin import CONFIG_MAP, SERVICE_ACCOUNT
from pyopscaffold.runtime.cache import Cache, Delta
from pyopscaffold.runtime.client import config
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.testing.waiting import eventually_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[HttpClient]:
    """Give a client of the shared API server."""
    client = HttpClient(config.load(kubeconfig))
    yield client
    await client.close()


@pytest.fixture
async def cache(client: HttpClient, namespace: str) -> AsyncIterator[Cache]:
    """Give a running cache of the test's namespace."""
    cache = Cache(client, namespace=namespace)
    running = asyncio.create_task(cache.run())
    yield cache
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


class Changes:
    """Collects changes; ``wait`` returns once so many have come."""

    def __init__(self) -> None:
        self.deltas: list[Delta] = []
        self._news = asyncio.Event()

    def __call__(self, delta: Delta) -> None:
        """Take a change."""
        self.deltas.append(delta)
        self._news.set()

    async def wait(self, count: int) -> list[Delta]:
        """Return the changes when there are so many."""
        async with asyncio.timeout(20):
            while len(self.deltas) < count:
                self._news.clear()
                await self._news.wait()
        return self.deltas


def _config_map(name: str, namespace: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "data": {"key": "1"},
    }


async def test_follows_another_writer(client: HttpClient, cache: Cache, kubeconfig: Path, namespace: str) -> None:
    """What another client creates, changes and deletes is reported in order, without managedFields."""
    changes = Changes()
    informer = cache.informer(CONFIG_MAP)
    informer.add_handler(changes)
    await informer.wait_synced()
    other = HttpClient(config.load(kubeconfig))
    await other.create(_config_map("a", namespace), field_manager="other")
    await other.patch(CONFIG_MAP, "a", {"data": {"key": "2"}}, namespace=namespace)
    await other.delete(CONFIG_MAP, "a", namespace=namespace)
    await other.close()
    deltas = await changes.wait(3)
    assert [(delta.old is not None, delta.new is not None) for delta in deltas] == [
        (False, True),
        (True, True),
        (True, False),
    ]
    assert all(b"managedFields" not in delta.new.raw for delta in deltas if delta.new)


async def test_reads_own_writes(client: HttpClient, cache: Cache, namespace: str) -> None:
    """Each read right after a write of the same client sees it, whatever the watch has brought by then."""
    informer = cache.informer(CONFIG_MAP)
    changes = Changes()
    informer.add_handler(changes)
    await informer.wait_synced()
    for number in range(20):
        written = await client.apply(
            {**_config_map("own", namespace), "data": {"key": str(number)}}, field_manager="own"
        )
        read = await cache.reader.get(CONFIG_MAP, "own", namespace=namespace)
        assert read["data"] == {"key": str(number)}
        assert read["metadata"]["resourceVersion"] == written["metadata"]["resourceVersion"]
    await client.delete(CONFIG_MAP, "own", namespace=namespace)
    with pytest.raises(NotFound):
        await cache.reader.get(CONFIG_MAP, "own", namespace=namespace)
    await client.create(_config_map("last", namespace), field_manager="own")
    versions = [int((delta.new or delta.old).meta.resource_version) for delta in await changes.wait(22)]
    assert versions == sorted(versions)
    assert len(changes.deltas) == 22


async def test_relist_brings_nothing_new(client: HttpClient, cache: Cache, namespace: str) -> None:
    """A forced list of what is known makes no change, and the watch goes on."""
    informer = cache.informer(CONFIG_MAP)
    changes = Changes()
    informer.add_handler(changes)
    await informer.wait_synced()
    await client.create(_config_map("a", namespace), field_manager="tests")
    informer.relist()
    await eventually_async(lambda: informer.relists == 1)
    await client.create(_config_map("b", namespace), field_manager="tests")
    assert [delta.new.meta.name for delta in await changes.wait(2) if delta.new] == ["a", "b"]


async def test_finalizer_holds_a_deleted_object(client: HttpClient, cache: Cache, namespace: str) -> None:
    """A deletion that waits for a finalizer shows as ``deleting``; it is gone when the finalizer is."""
    informer = cache.informer(CONFIG_MAP)
    changes = Changes()
    informer.add_handler(changes)
    await informer.wait_synced()
    await client.create(_config_map("held", namespace, finalizers=["example.com/hold"]), field_manager="tests")
    await client.delete(CONFIG_MAP, "held", namespace=namespace)
    held = informer.get(namespace, "held")
    assert held is not None
    assert held.meta.deleting
    await client.patch(CONFIG_MAP, "held", {"metadata": {"finalizers": None}}, namespace=namespace)
    await eventually_async(lambda: informer.get(namespace, "held") is None)
    assert changes.deltas[-1].new is None


async def test_kind_that_deletes_with_its_object(client: HttpClient, cache: Cache, namespace: str) -> None:
    """A kind whose deletion is answered with the object, not a Status, is gone from the cache at once too."""
    informer = cache.informer(SERVICE_ACCOUNT)
    await informer.wait_synced()
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "short", "namespace": namespace}}
    await client.create(account, field_manager="tests")
    assert informer.get(namespace, "short") is not None
    await client.delete(SERVICE_ACCOUNT, "short", namespace=namespace)
    assert informer.get(namespace, "short") is None


async def test_selector_lets_go_and_takes_back(client: HttpClient, cache: Cache, namespace: str) -> None:
    """An object that leaves a selector is deleted from its informer, and is added again with the label."""
    changes = Changes()
    informer = cache.informer(CONFIG_MAP, labels="on=yes")
    informer.add_handler(changes)
    await informer.wait_synced()
    await client.create(_config_map("s", namespace, labels={"on": "yes"}), field_manager="tests")
    for count, label in ((2, "no"), (3, "yes")):
        await client.patch(CONFIG_MAP, "s", {"metadata": {"labels": {"on": label}}}, namespace=namespace)
        await changes.wait(count)
    assert [(delta.old is not None, delta.new is not None) for delta in changes.deltas] == [
        (False, True),
        (True, False),
        (False, True),
    ]


async def test_server_leaves_all_but_metadata_out(client: HttpClient, cache: Cache, namespace: str) -> None:
    """The server itself sends metadata only, in lists and in watches; the cache has the kind's own name on it."""
    await client.create(_config_map("a", namespace), field_manager="tests")
    page = await client.list_page(CONFIG_MAP, namespace=namespace, metadata_only=True)
    assert page.items
    assert all(b'"PartialObjectMetadata"' in bytes(item) and b'"key"' not in bytes(item) for item in page.items)
    async for event in client.watch(CONFIG_MAP, namespace=namespace, initial_events=True, metadata_only=True):
        assert b'"PartialObjectMetadata"' in bytes(event.object)
        if event.type == "BOOKMARK":
            break
    informer = cache.informer(CONFIG_MAP, metadata_only=True)
    await informer.wait_synced()
    await client.create(_config_map("b", namespace, labels={"app": "x"}), field_manager="tests")
    await client.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"app": "x"}}}, namespace=namespace)
    await eventually_async(lambda: informer.events == 2)
    found = await cache.reader.metadata(CONFIG_MAP, labels="app=x")
    assert sorted(obj["metadata"]["name"] for obj in found) == ["a", "b"]
    assert {(obj["apiVersion"], obj["kind"]) for obj in found} == {("v1", "ConfigMap")}


async def test_field_selector(client: HttpClient, cache: Cache, namespace: str) -> None:
    """The server selects by fields; an object that is not selected is never told of, though we write it ourselves."""
    informer = cache.informer(CONFIG_MAP, fields="metadata.name=a")
    changes = Changes()
    informer.add_handler(changes)
    await informer.wait_synced()
    for name in ("b", "a"):
        await client.create(_config_map(name, namespace), field_manager="tests")
    assert [delta.new.meta.name for delta in await changes.wait(1) if delta.new] == ["a"]
    assert await cache.reader.list(CONFIG_MAP, namespace=namespace, fields="metadata.name=a")
    assert informer.get(namespace, "b") is None
