"""Sharding among real processes, against a real API server: replicas come, are killed, and stop at the worst moment."""

from __future__ import annotations

import signal
import time
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cluster.shard_fleet import WITHIN, ShardFleet
from tests.cluster.widgets import GROUP, Cluster, WidgetReconciler, endpoint, operating, scrape, soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyopscaffold.testing import ApiServer, AuditRecord


@pytest.fixture
def fleet(api_server: ApiServer, cluster: Cluster, tmp_path: Path) -> Iterator[Callable[[int], ShardFleet]]:
    """Give a function that makes a fleet whose Leases last so many seconds."""
    made: list[ShardFleet] = []

    def make(lease_duration: int) -> ShardFleet:
        made.append(ShardFleet(api_server, cluster, tmp_path, lease_duration))
        return made[-1]

    yield make
    for each in made:
        each.end()
        names = [item["metadata"]["name"] for item in each.cluster.client.get(cluster.widget_path(""))["items"]]
        cluster.drop_finalizers(*names)


async def test_replicas_share_join_and_take_over(fleet: Callable[[int], ShardFleet], cluster: Cluster) -> None:
    """One works on each object; who joins gets a part, and the part of one that is killed goes on within the lease."""
    shards = fleet(9)
    first, second = shards.start(), shards.start()
    await soon(lambda: shards.agreed(first, second), WITHIN)
    names = [f"widget-{number}" for number in range(24)]
    for name in names:
        cluster.apply(name, text="one")
    await shards.say("one", *names)
    for name in names:
        worked = [replica for replica in (first, second) if replica.worked_on(name)]
        assert worked == [shards.owner(name)]

    third = shards.start()
    await soon(lambda: shards.agreed(first, second, third), WITHIN)
    its = [name for name in names if shards.owner(name) is third]
    assert 0 < len(its) < len(names)
    await soon(lambda: all(third.worked_on(name) for name in its), WITHIN)
    assert not any(third.worked_on(name) for name in set(names) - set(its))

    killed = third.signal(signal.SIGKILL)
    for name in its:
        cluster.apply(name, text="two")
    await shards.say("two", *its)
    assert time.monotonic() - killed < 5 * shards.lease_duration  # 11 to 13 fifteenths of it on a quiet machine
    await soon(lambda: shards.agreed(first, second), WITHIN)

    cluster.client.request("DELETE", cluster.widget_path(""))
    await soon(lambda: not cluster.client.get(cluster.widget_path(""))["items"], WITHIN)
    assert not any(cluster.exists(cluster.config_map_path(name)) for name in names)
    assert shards.overlaps() == []


async def test_metrics_tell_the_share(api_server: ApiServer, cluster: Cluster) -> None:
    """How many replicas there are, and how many objects are this one's; who finds its Lease gone joins anew."""
    reconciler = WidgetReconciler()
    leases = ShardFleet(api_server, cluster, Path(), 6).leases
    sharing = {"shard": True, "shard_id": "widgets", "shard_namespace": cluster.namespace}
    for name in ("one", "two", "three"):
        cluster.apply(name)
    async with operating(reconciler, api_server, cluster.namespace, **sharing) as manager:
        objects = 'pyopscaffold_shard_objects{controller="widget"}'
        await soon(lambda: set(reconciler.seen) == {"one", "two", "three"} and scrape(manager)[objects] == 3, WITHIN)
        assert scrape(manager)["pyopscaffold_shard_replicas"] == 1
        assert endpoint(manager, "--health-probe-bind-address", "/readyz")[0] == 200
        cluster.client.request("DELETE", cluster.widget_path("three"))
        await soon(lambda: scrape(manager)[objects] == 2, WITHIN)
        await soon(reconciler.quiet, WITHIN)
        [lost] = leases()
        cluster.client.delete(f"/apis/coordination.k8s.io/v1/namespaces/{cluster.namespace}/leases/{lost}")
        await soon(lambda: leases() and lost not in leases() and scrape(manager)[objects] == 2, WITHIN)
        cluster.apply("one", text="after")
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "after"}, WITHIN)
        stamps = cluster.widget("one")["metadata"]["annotations"]
        assert stamps == {f"{GROUP}/widget-shard": next(iter(leases()))}
    assert leases() == {}


async def test_a_clean_stop_hands_over_at_once(fleet: Callable[[int], ShardFleet], cluster: Cluster) -> None:
    """Who is asked to end gives up its Lease, so that nobody waits for the end of it."""
    shards = fleet(60)
    first, second = shards.start(), shards.start()
    # with a lease of a minute the replicas look at each other every eight seconds, or at once when they have news
    await soon(lambda: first.lease() and second.lease() and len(shards.leases()) == 2, WITHIN)
    second.signal(signal.SIGTERM)
    assert second.process.wait(60) == 0
    assert list(shards.leases()) == [first.lease()]


async def test_late_writes_of_a_stopped_replica(
    fleet: Callable[[int], ShardFleet], cluster: Cluster, api_server: ApiServer
) -> None:
    """Woken after others took over, it sends no further write, and the server refuses those already past the check.

    The others find all as it should be, but for one object: it is not their own changes that the late writes meet.
    """
    shards = fleet(5)
    late = shards.start(LATE=r"/configmaps/(child|made)-|/widgets/status-.*/status")
    others = [shards.start(), shards.start()]
    await soon(lambda: shards.agreed(late, *others), WITHIN)
    child, made, status, slow = names = [shards.named(late, what) for what in ("child", "made", "status", "slow")]
    for text in ("zero", "one"):
        for name in (child, status, slow):
            cluster.apply(name, text=text)
        await shards.say(text, child, status, slow)
    cluster.apply(child, text="late")
    cluster.apply(made, text="late")
    cluster.client.merge(cluster.config_map_path(status), {"data": {"said": "late"}})
    await soon(lambda: len(late.lines("armed")) == 3, WITHIN)
    cluster.apply(slow, text="slow")
    await soon(lambda: late.lines("going slow", name=slow), WITHIN)
    stopped = late.signal(signal.SIGSTOP)
    assert not late.lines("sent late")

    cluster.apply(child, text="one")
    cluster.apply(made, text="one")
    cluster.client.merge(cluster.config_map_path(status), {"data": {"said": "one"}})
    await soon(lambda: all(any(other.worked_on(name) for other in others) for name in names), WITHIN)
    assert time.monotonic() - stopped < 5 * shards.lease_duration
    await shards.say("slow", slow)
    await shards.say("one", child, made, status)
    seen, lost = len(api_server.audit_log.records()), late.lease()

    late.signal(signal.SIGCONT)
    await soon(lambda: len(late.lines("sent late")) == 3, WITHIN)
    refused = {line["path"].split("/")[-1]: line["status"] for line in late.lines("sent late")}
    assert refused == {child: 409, made: 409, "status": 409}
    await soon(lambda: late.lines("no longer ours") and late.lease() != lost, WITHIN)
    written = [record for record in api_server.audit_log.records(user=late.user, skip=seen) if record.is_write]
    sent = {(each.name, each.resource, each.code) for name in names for each in as_of_old(written, name)}
    assert sent == {(child, "configmaps", 409), (made, "configmaps", 409), (status, "widgets", 409)}

    await soon(lambda: shards.agreed(late, *others), WITHIN)
    fresh = shards.named(late, "fresh")
    for name in (child, made, slow, fresh):
        cluster.apply(name, text="again")
    await shards.say("again", child, made, slow, fresh)
    assert late.worked_on(fresh)
    assert shards.overlaps() == []


def as_of_old(written: Iterable[AuditRecord], name: str) -> Iterator[AuditRecord]:
    """Give a replica's writes for an object before it took it over anew, which begins with a patch of the object."""
    its = (record for record in written if record.name == name)
    return takewhile(lambda each: (each.resource, each.subresource, each.code) != ("widgets", "", 200), its)
