"""An API server that dies, and an etcd that forgets."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.testing.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")


class _Etcd(http.client.HTTPConnection):
    """Speaks to etcd's HTTP gateway on its Unix socket: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/."""

    def __init__(self, path: Path) -> None:
        super().__init__("etcd")
        self._path = path

    def connect(self) -> None:
        """See HTTPConnection."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question."""
        self.request("POST", f"/v3/{path}", json.dumps(body))
        answer = self.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found


def _compact(world: World) -> None:
    """Have etcd forget all history up to now."""
    etcd = _Etcd(world.plane.server.directory / "etcd.sock")
    try:
        revision = etcd.ask("kv/range", {"key": "YQ=="})["header"]["revision"]
        etcd.ask("kv/compaction", {"revision": revision, "physical": True})
    finally:
        etcd.close()


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


async def test_compacted(world: World) -> None:
    """The history that a watch would resume from is gone for good: the operator lists, and misses no deletion."""
    async with world.operating() as operator:
        informers = operator.manager.cache.informers
        lists = [informer.relists for informer in informers]
        with world.proxy.refusing():
            await asyncio.to_thread(world.change)
            await asyncio.to_thread(_compact, world)
            await asyncio.to_thread(_restart, world)
        await operator.settled()
        assert [informer.relists for informer in informers] == [before + 1 for before in lists]
