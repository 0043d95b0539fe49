"""How a manager starts and ends: runnables in order, one time to end in for all, what a blocked loop leaves alive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Manager, Reconciler, Result, Runnable
from tests.cluster.widgets import Cluster, Widget, WidgetReconciler, begin, config_map, endpoint, operating, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

HEALTH, METRICS = "--health-probe-bind-address", "--metrics-bind-address"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/widget.runtime.example.com"


class Diary:
    """Notes what begins and ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def runnable(self, name: str, *, leader: bool) -> Runnable:
        """Make a runnable that notes how many objects the cache has when it begins, and when it has ended."""

        async def run(manager: Manager) -> None:
            found = manager.cache.informer(Widget).list()
            self.lines.append(f"+{name} {len(found)}")
            try:
                await asyncio.Future()
            finally:
                await asyncio.sleep(0)
                self.lines.append(f"-{name}")

        return Runnable(run, name=name, leader=leader)

    def runnables(self) -> list[Runnable]:
        """Make two that need leadership, and between them one that does not."""
        return [
            self.runnable("first", leader=True),
            self.runnable("always", leader=False),
            self.runnable("last", leader=True),
        ]


async def test_runnables_start_and_stop_in_order(api_server: ApiServer, cluster: Cluster) -> None:
    """After the caches and before the controllers, and stopped in reverse once the last reconcile is done."""
    diary, started, go_on = Diary(), asyncio.Event(), asyncio.Event()

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Noting(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            diary.lines.append("reconcile")
            started.set()
            await go_on.wait()
            await ctx.apply(config_map(obj.metadata.name, "done"))
            diary.lines.append("reconciled")
            return Result()

    cluster.apply("one")
    _, running = begin(Noting(), api_server, cluster.namespace, runnables=diary.runnables())
    await asyncio.wait_for(started.wait(), 60)
    running.cancel()
    for _ in range(50):
        await asyncio.sleep(0)
    assert diary.lines == (begun := ["+always 1", "+first 1", "+last 1", "reconcile"])
    go_on.set()
    await asyncio.gather(running, return_exceptions=True)
    assert diary.lines == [*begun, "reconciled", "-last", "-first", "-always"]


async def test_runnables_of_the_leader(api_server: ApiServer, cluster: Cluster) -> None:
    """A replica that waits runs what needs no leadership; the rest begins when it leads."""
    election: dict[str, Any] = {"leader_elect": True, "leader_election_namespace": cluster.namespace}
    leading, waiting = Diary(), Diary()
    async with operating(
        WidgetReconciler(), api_server, cluster.namespace, runnables=leading.runnables(), **election
    ) as leader:
        await soon(lambda: leader.leading and len(leading.lines) == 3)
        follower, running = begin(
            WidgetReconciler(), api_server, cluster.namespace, runnables=waiting.runnables(), **election
        )
        await soon(lambda: follower.ready and waiting.lines)
        assert waiting.lines == ["+always 0"]
    await soon(lambda: len(waiting.lines) == 3)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert waiting.lines == ["+always 0", "+first 0", "+last 0", "-last", "-first", "-always"]


@pytest.mark.parametrize("leader", [True, False])
async def test_a_runnable_that_fails_ends_the_manager(api_server: ApiServer, cluster: Cluster, *, leader: bool) -> None:
    """What a runnable raises is what the manager raises, after all else has been stopped."""
    diary = Diary()

    async def fail(manager: Manager) -> None:
        await soon(lambda: manager.leading)
        raise ValueError("no such queue")

    runnables = [*diary.runnables(), Runnable(fail, leader=leader)]
    _, running = begin(WidgetReconciler(), api_server, cluster.namespace, runnables=runnables)
    with pytest.raises(ValueError, match="no such queue"):
        await asyncio.wait_for(running, 60)
    assert diary.lines[-3:] == ["-last", "-first", "-always"]


async def test_the_time_to_end_in_is_for_all(api_server: ApiServer, cluster: Cluster) -> None:
    """A reconcile that does not end is broken off so early that its events leave and the lease is released in time.

    Nothing is half written: what the server has is the child as applied, and no word in the status. The next start
    finishes.
    """
    election: dict[str, Any] = {"leader_elect": True, "leader_election_namespace": cluster.namespace}
    endless = asyncio.Event()

    @controller(Widget, owns=[CONFIG_MAP], timeout=60.0)
    class Endless(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
            ctx.event("Normal", "Waiting", "it takes long")
            endless.set()
            await asyncio.Future()
            return Result()

    cluster.apply("one")
    manager, running = begin(Endless(), api_server, cluster.namespace, grace=1.0, **election)
    await asyncio.wait_for(endless.wait(), 60)
    running.cancel()
    await asyncio.wait_for(asyncio.gather(running, return_exceptions=True), 45)  # idle, 1.2; the reconcile has 60
    assert cluster.client.get(LEASE.format(cluster.namespace))["spec"].get("holderIdentity", "") == ""
    assert [event["reason"] for event in cluster.events("one")] == ["Waiting"]
    assert cluster.config_map("one")["data"] == {"text": "hello"}
    assert cluster.widget("one")["status"] == {"observedGeneration": -1}
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
    assert manager.idle


async def test_health_and_metrics_live_on_while_the_loop_is_blocked(api_server: ApiServer, cluster: Cluster) -> None:
    """User code that blocks the event loop costs neither the probes nor the metrics."""
    answers: list[int] = []
    managers: list[Manager] = []

    @controller(Widget, timeout=30.0)
    class Blocking(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            # plain calls: the loop stands still until they are answered, by another thread or never
            for flag, path in ((HEALTH, "/healthz"), (HEALTH, "/readyz"), (METRICS, "/metrics")):
                answers.append(endpoint(managers[0], flag, path)[0])
            return Result()

    async with operating(Blocking(), api_server, cluster.namespace) as manager:
        managers.append(manager)
        cluster.apply("one")
        await soon(lambda: len(answers) >= 3)
    assert set(answers) == {200}
