"""A replica's Lease by a clock that is moved by hand: how long it lasts, and who may end it."""

from __future__ import annotations

import asyncio

import pytest

from pyopscaffold.runtime.clock import ManualClock, SystemClock, WakefulClock
from pyopscaffold.runtime.membership import Membership, ShardTimes, Sighting
from tests.unit.runtime.lease_store import Gated, Store

TIMES = ShardTimes(duration=15)


class Replica:
    """One replica of several that share a store and a clock, with what it was told."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.told: list[Sighting | None] = []
        self.gated = Gated(store)
        self.gated.open = True
        self.member = Membership(
            self.gated,
            namespace="ns",
            name="shard",
            group="example.com",
            identity="host",
            clock=clock,
            told=self.told.append,
            times=TIMES,
        )

    @property
    def seen(self) -> Sighting:
        """What it was told last."""
        last = self.told[-1]
        assert last is not None
        return last

    async def join(self, *view: str) -> None:
        """Take a place, and publish a view: of all that are there, or the one given."""
        await self.member.turn()
        self.member.publish(self.seen.me, view or self.seen.members)
        await self.member.turn()


@pytest.fixture
def clock() -> ManualClock:
    """Give a clock that stands still."""
    return ManualClock()


@pytest.fixture
def store() -> Store:
    """Give a server without Leases."""
    return Store()


async def half(turn: asyncio.Task[None], replica: Replica) -> None:
    """Let a turn go on by half a request."""
    await asyncio.sleep(0.001)
    replica.gated.gates.pop(0).set_result(None)
    await asyncio.sleep(0.001)
    assert not turn.done()


def test_a_lost_replica_is_taken_over_within_its_lease() -> None:
    """What is seen a retry late is over, with a retry to spare, in time; and nobody is put out who may yet write."""
    assert TIMES.deadline < TIMES.eviction < TIMES.eviction + 2 * TIMES.retry <= TIMES.duration


async def test_members_see_each_others_views(store: Store, clock: ManualClock) -> None:
    """Each tells the others by which members it divides the objects, and is told what they say."""
    first, second = Replica(store, clock), Replica(store, clock)
    await first.join()
    await second.join()
    await first.member.turn()
    assert first.seen.others == {second.seen.me: second.seen.members}
    assert second.seen.others == {first.seen.me: (first.seen.me,)}
    assert len(store.leases) == 2


async def test_a_renewal_counts_from_when_it_was_asked_for(store: Store, clock: ManualClock) -> None:
    """An answer that is long under way prolongs the Lease by so much less."""
    replica = Replica(store, clock)
    await replica.join()
    clock.advance(1)
    replica.gated.open = False
    turn = asyncio.ensure_future(replica.member.turn())
    await half(turn, replica)
    clock.advance(3)
    await half(turn, replica)
    assert replica.member.left(replica.member.term) == TIMES.deadline - 3
    turn.cancel()


async def test_who_does_not_renew_may_not_write_before_it_is_put_out(store: Store, clock: ManualClock) -> None:
    """At its deadline a replica may write no more; some time later the others delete its Lease, and no sooner."""
    first, second = Replica(store, clock), Replica(store, clock)
    await first.join()
    await second.join()
    await first.member.turn()
    await second.member.turn()
    clock.advance(TIMES.deadline - 0.1)
    assert first.member.left(first.seen.term) > 0
    await second.member.turn()
    clock.advance(0.2)
    assert first.member.left(first.seen.term) <= 0
    await second.member.turn()
    assert first.seen.me in second.seen.others
    clock.advance(TIMES.eviction - TIMES.deadline)
    await second.member.turn()
    assert second.seen.others == {}
    assert list(store.leases) == [second.seen.me]


async def test_who_renews_at_the_last_moment_is_not_put_out(store: Store, clock: ManualClock) -> None:
    """A Lease is deleted as it was seen: one that was renewed since stays, for its replica goes on to write."""
    first, second = Replica(store, clock), Replica(store, clock)
    await first.join()
    await second.join()
    while clock.monotonic() + TIMES.retry < TIMES.eviction:
        clock.advance(TIMES.retry)
        await second.member.turn()
    clock.advance(TIMES.retry)
    second.gated.open = False
    turn = asyncio.ensure_future(second.member.turn())
    for _ in range(4):  # its own renewal, and the list
        await half(turn, second)
    await first.member.turn()
    await half(turn, second)  # the deletion
    second.gated.gates.pop().set_result(None)
    await turn
    assert set(store.leases) == {first.seen.me, second.seen.me}
    assert first.seen.me in second.seen.others


async def test_a_renewal_after_the_end_begins_anew(store: Store, clock: ManualClock) -> None:
    """Who finds its Lease gone is told so, and joins under another name with a view of nothing."""
    replica = Replica(store, clock)
    await replica.join()
    lost, term = replica.seen.me, replica.seen.term
    store.leases.clear()
    await replica.member.turn()
    assert replica.told[-1] is None
    await replica.member.turn()
    assert (replica.seen.me != lost, replica.seen.view) == (True, ())
    assert replica.member.left(term) <= 0 < replica.member.left(replica.seen.term)


async def test_a_gap_ends_what_was_begun_before_it(store: Store, clock: ManualClock) -> None:
    """A replica that was late, and that nobody has put out, keeps its place; what it had begun may write no more."""
    replica = Replica(store, clock)
    await replica.join()
    before = replica.seen
    clock.advance(TIMES.deadline + 5)
    await replica.member.turn()
    assert replica.seen.me == before.me
    assert replica.member.left(before.term) <= 0 < replica.member.left(replica.seen.term)


async def test_after_an_outage_nobody_is_put_out_at_once(store: Store, clock: ManualClock) -> None:
    """Who could not renew itself does not hold it against the others that they did not."""
    first, second = Replica(store, clock), Replica(store, clock)
    await first.join()
    await second.join()
    await first.member.turn()
    clock.advance(60)
    await first.member.turn()
    assert second.seen.me in first.seen.others
    await second.member.turn()
    clock.advance(TIMES.retry)
    await first.member.turn()
    assert second.seen.me in first.seen.others


async def test_a_lease_that_somebody_has_touched_stays(store: Store, clock: ManualClock) -> None:
    """A change by hand costs one turn, not the place."""
    replica = Replica(store, clock)
    await replica.join()
    mine = replica.seen.me
    touch = {"metadata": {"resourceVersion": store.leases[mine]["metadata"]["resourceVersion"], "annotations": {}}}
    store.patch(None, mine, {**touch, "spec": {}})
    for _ in range(2):
        clock.advance(TIMES.retry)
        await replica.member.turn()
    assert replica.seen.me == mine
    assert replica.member.left(replica.seen.term) == TIMES.deadline


def test_a_suspended_machine_ages() -> None:
    """The clock of Leases never runs behind the other, and goes on."""
    wakeful, system = WakefulClock(), SystemClock()
    before = wakeful.monotonic()
    assert before >= system.monotonic() - 1.0
    assert wakeful.monotonic() >= before
