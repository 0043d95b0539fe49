"""An API server that dies, and an etcd that forgets."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.testing.waiting import eventually
from tests.faults import etcd
from tests.faults.proxy import writes

if TYPE_CHECKING:
    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")


def _restart(world: World) -> None:
    """Kill the API server, and start it again."""
    world.plane.stop_api_server(grace=0)
    world.plane.start_api_server()
    eventually(lambda: world.listed("widgets"))


async def test_killed_and_restarted(world: World) -> None:
    """While the API server is dead the cache serves on; when it is back the operator goes on, without a new start."""
    async with world.operating() as operator:
        await asyncio.to_thread(world.plane.stop_api_server, grace=0)
        cache = operator.manager.cache
        await operator.until(lambda: all(informer.failure for informer in cache.informers))
        assert await cache.reader.get(CONFIG_MAP, "untouched", namespace=world.namespace)
        await asyncio.to_thread(world.plane.start_api_server)
        await asyncio.to_thread(eventually, lambda: world.listed("widgets"))
        await asyncio.to_thread(world.change)
        await operator.settled()
        assert not any(informer.failure for informer in cache.informers)
        with world.proxy.slow(0, writes("configmaps")) as written:
            await asyncio.to_thread(world.apply, "untouched", text=world.text())
            await operator.settled()
            assert written.hits == 1, "and is as quiet as before"


async def test_compacted(world: World) -> None:
    """The history that a watch would resume from is gone for good: the operator lists, and misses no deletion."""
    async with world.operating() as operator:
        informers = operator.manager.cache.informers
        lists = [informer.relists for informer in informers]
        with world.proxy.refusing():
            await asyncio.to_thread(world.change)
            await asyncio.to_thread(etcd.compact, world.plane.server)
            await asyncio.to_thread(_restart, world)
        await operator.settled()
        assert [informer.relists for informer in informers] == [before + 1 for before in lists]
