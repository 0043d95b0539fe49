"""The cache as controllers use it, over the fake API server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Object, resource
from pyopscaffold.errors import NotFound, PyopscaffoldError
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET
from pyopscaffold.runtime.cache import Cache, Delta
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.fake_api_server import FakeApiServer, client_of, fake_api_server, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyopscaffold.runtime.client.http import HttpClient
    from pyopscaffold.testing import FakeCluster


@resource(group="", version="v1")
@dataclass(kw_only=True)
class ConfigMap(Object):
    data: dict[str, str]


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """Give a server with two objects in two namespaces."""
    async with fake_api_server() as server:
        server.put("a", namespace="one", key="1")
        server.put("b", namespace="two", key="2")
        yield server


@asynccontextmanager
async def running(server: FakeApiServer, **options: Any) -> AsyncIterator[tuple[Cache, HttpClient]]:
    """Run a cache for the length of a block."""
    clock = ManualClock()
    async with client_of(server, clock) as client:
        cache = Cache(client, clock=clock, **options)
        task = asyncio.create_task(cache.run())
        try:
            yield cache, client
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_informers_are_shared(server: FakeApiServer) -> None:
    """Equal arguments, class or kind, give one informer and one watch; others give others."""
    async with running(server) as (cache, _):
        informer = cache.informer(CONFIG_MAP)
        assert cache.informer(ConfigMap) is informer
        assert cache.informer(CONFIG_MAP, labels="a=b") is not informer
        assert cache.informer(CONFIG_MAP, namespace="one") is not informer
        await cache.wait_synced()
        assert server.count("watch") == 3


async def test_a_list_of_what_is_here_takes_no_memory(server: FakeApiServer) -> None:
    """While a list is taken in again, what it has unchanged is not held twice; what is new is its own."""
    seen: list[str] = []

    def keep(obj: dict[str, Any]) -> dict[str, Any]:
        seen.append(obj["metadata"]["name"])
        return obj

    async with running(server, transforms={CONFIG_MAP: keep}) as (cache, _):
        informer = cache.informer(CONFIG_MAP)
        await cache.wait_synced()
        held = informer.get("one", "a")
        assert held is not None
        assert informer.read(held.raw) is held
        server.put("b", namespace="two", key="3")
        await until(lambda: seen == ["a", "b", "b"])
        informer.relist()
        await until(lambda: informer.relists == 1)
        assert seen == ["a", "b", "b"]
        assert informer.get("one", "a") is held


async def test_several_namespaces(server: FakeApiServer) -> None:
    """A cache of some namespaces watches each of them, and nothing else."""
    server.put("c", namespace="three")
    async with running(server, namespace=["one", "two"]) as (cache, _):
        informer = cache.informer(CONFIG_MAP)
        await informer.wait_synced()
        assert sorted(item.meta.name for item in informer.list()) == ["a", "b"]
        informer.relist()
        await until(lambda: informer.relists == 2)
        assert sorted(item.meta.name for item in informer.list()) == ["a", "b"]
        with pytest.raises(PyopscaffoldError, match="only for namespace=one, two"):
            await cache.reader.get(CONFIG_MAP, "c", namespace="three")


async def test_reads_wait_for_the_first_list(server: FakeApiServer) -> None:
    """A read before the first list waits for it instead of saying NotFound."""
    async with running(server) as (cache, _):
        cache.informer(CONFIG_MAP)
        assert (await cache.reader.get(CONFIG_MAP, "a", namespace="one"))["data"] == {"key": "1"}
        with pytest.raises(NotFound, match="ConfigMap one/b is not in the cache"):
            await cache.reader.get(CONFIG_MAP, "b", namespace="one")


async def test_reads_are_copies(server: FakeApiServer) -> None:
    """Changing what was read changes nothing in the cache."""
    async with running(server) as (cache, _):
        cache.informer(CONFIG_MAP)
        typed = await cache.reader.get(ConfigMap, "a", namespace="one")
        plain = await cache.reader.get(CONFIG_MAP, "a", namespace="one")
        typed.data["key"] = plain["data"]["key"] = "changed"
        assert (await cache.reader.get(ConfigMap, "a", namespace="one")).data == {"key": "1"}


async def test_lists(server: FakeApiServer) -> None:
    """Lists are of one namespace or of all, and label selectors are evaluated here."""
    labelled = server.put("l", namespace="one")
    labelled["metadata"]["labels"] = {"app": "x"}
    async with running(server) as (cache, _):
        cache.informer(CONFIG_MAP)
        everything = await cache.reader.list(CONFIG_MAP)
        assert sorted(obj["metadata"]["name"] for obj in everything) == ["a", "b", "l"]
        assert [obj["metadata"]["name"] for obj in await cache.reader.list(CONFIG_MAP, labels="app in (x)")] == ["l"]
        assert [obj["metadata"]["name"] for obj in await cache.reader.list(CONFIG_MAP, namespace="two")] == ["b"]
        with pytest.raises(PyopscaffoldError, match=r"fields='spec\.x=1'"):
            await cache.reader.list(CONFIG_MAP, fields="spec.x=1")


async def test_kind_without_informer(server: FakeApiServer) -> None:
    """A kind that nobody watches is an error that says what to do, not an empty answer."""
    async with running(server) as (cache, _):
        with pytest.raises(PyopscaffoldError, match="does not watch Secret: name it in owns= or watches="):
            await cache.reader.list(SECRET)


async def test_own_writes_are_read_without_the_watch(server: FakeApiServer) -> None:
    """A write shows in reads although the watch is silent, is reported once, and a deletion too."""
    async with running(server) as (cache, client):
        informer = cache.informer(CONFIG_MAP)
        await informer.wait_synced()
        deltas: list[Delta] = []
        informer.add_handler(deltas.append)
        assert [delta.initial for delta in deltas] == [True, True]
        server.mute_watches()
        await client.patch(CONFIG_MAP, "a", {"data": {"key": "new"}}, namespace="one")
        assert (await cache.reader.get(CONFIG_MAP, "a", namespace="one"))["data"] == {"key": "new"}
        await client.delete(CONFIG_MAP, "a", namespace="one")
        with pytest.raises(NotFound):
            await cache.reader.get(CONFIG_MAP, "a", namespace="one")
        assert [(delta.old is not None, delta.new is not None) for delta in deltas[2:]] == [(True, True), (True, False)]


async def test_dry_runs_leave_the_cache_alone(fake_cluster: FakeCluster) -> None:
    """What was only tried is not read, whatever it was that was tried."""
    client = fake_cluster.client
    dry: dict[str, Any] = {"field_manager": "tests", "dry_run": True}
    there, new = (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "one"}, "data": {"key": "1"}}
        for name in ("there", "new")
    )
    fake_cluster.add_namespace("one")
    made = await client.create(there, field_manager="tests")
    cache = Cache(client, clock=ManualClock())
    informer = cache.informer(CONFIG_MAP)
    task = asyncio.create_task(cache.run())
    await informer.wait_synced()
    known = informer.list()
    await client.create(new, **dry)
    await client.apply(new, **dry)
    await client.apply({**there, "data": {"key": "2"}}, **dry)
    await client.patch(CONFIG_MAP, "there", {"data": {"key": "2"}}, namespace="one", **dry)
    await client.replace({**made, "data": {"key": "2"}}, **dry)
    await client.delete(CONFIG_MAP, "there", namespace="one", dry_run=True)
    assert (informer.list(), len(known)) == (known, 1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_owners_are_indexed(server: FakeApiServer) -> None:
    """Children are found by their owner's uid, and by any index that was added."""
    child = server.put("child", namespace="one")
    child["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "owner", "controller": True}
    ]
    async with running(server) as (cache, _):
        informer = cache.informer(CONFIG_MAP)
        await informer.wait_synced()
        informer.add_index("initial", lambda item: [item.meta.name[0]])
        owned = informer.by_owner("owner")
        assert [item.meta.name for item in owned] == ["child"]
        assert owned[0].meta.controller is not None
        assert [item.meta.name for item in informer.by_index("initial", "b")] == ["b"]
        server.delete("child", namespace="one")
        await until(lambda: informer.by_owner("owner") == [])


def test_import_is_light() -> None:
    """Importing the cache and the client's protocols imports neither aiohttp nor yaml."""
    program = (
        "import sys, pyopscaffold.runtime.cache, pyopscaffold.runtime.client.protocols, pyopscaffold.codec;"
        "print({'aiohttp', 'yaml'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
