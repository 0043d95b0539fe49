"""A network that lies, between the real API server and an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.testing.server import Identity
from tests.faults.proxy import Ending, watches

if TYPE_CHECKING:
    from tests.faults.http1 import Seen
    from tests.faults.world import Operator, World

pytestmark = pytest.mark.xdist_group("faults")

_SPEED = 30.0  # how much faster the operator's time goes by: what it waits for 70 s takes 2.3 s


async def _passed(operator: Operator, seconds: float) -> None:
    end = operator.clock.monotonic() + seconds
    await operator.until(lambda: operator.clock.monotonic() >= end)


async def test_silence(world: World) -> None:
    """Watches that have gone silent without a word are replaced, and what was missed is made up for."""
    async with world.operating(speed=_SPEED) as operator:
        assert world.proxy.freeze() == 2
        begun = operator.clock.monotonic()
        await asyncio.to_thread(world.change)
        await operator.settled()
        assert operator.clock.monotonic() - begun >= 60, "replaced before it was suspicious"


async def test_network_cut_for_90_seconds(world: World) -> None:
    """Once the network is back after 90 s, the operator is where the server is, by connections that are alive."""
    async with world.operating(speed=_SPEED, timeout=30 / _SPEED, connect_timeout=10 / _SPEED) as operator:
        with world.proxy.cut():
            await asyncio.to_thread(world.change)
            await _passed(operator, 90)
        await operator.settled()
        await asyncio.to_thread(world.change_again)
        await operator.settled()


async def test_nobody_listens(world: World) -> None:
    """While connections are refused they are tried again with pauses; the cache keeps what it had."""
    async with world.operating() as operator:
        before = operator.held("widgets")
        with world.proxy.refusing():
            await asyncio.to_thread(world.change)
            await operator.until(lambda: all(informer.failure for informer in operator.manager.cache.informers))
            assert operator.held("widgets") == before
        await operator.settled()
        assert not any(informer.failure for informer in operator.manager.cache.informers)


async def test_token_rotated(world: World) -> None:
    """When the token in the file is another and the old one is refused, nobody notices."""
    server = world.plane.server
    world.client.apply(
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/rotated",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "rotated"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "rotated", "namespace": world.namespace}],
        },
    )
    old, new = (server.service_account(world.namespace, "rotated").token for _ in range(2))
    file = world.folder / "token"
    file.write_text(old)
    kubeconfig = world.proxy.kubeconfig(world.folder / "rotated", Identity(user="rotated", token="see the file"))
    kubeconfig.write_text(kubeconfig.read_text().replace("token: see the file", f"tokenFile: {file}"))

    def outdated(seen: Seen) -> bool:
        return seen.token == old

    async with world.operating(kubeconfig=kubeconfig, speed=1) as operator:
        assert all(seen.token == old for seen in world.proxy.opened())
        file.write_text(new)
        with world.proxy.answering(401, outdated) as refused:
            with world.proxy.holding(watches()):
                world.proxy.end(Ending.CLEAN)
                await asyncio.to_thread(world.change)
            await operator.settled()
            assert all(seen.token == new for seen in world.proxy.opened())
        assert 1 <= refused.hits <= 8, "the new token is read once the old one is refused"
