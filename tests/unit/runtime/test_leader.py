"""Leader election by a clock that is moved by hand; the lease is in a small store with the server's precondition."""

from __future__ import annotations

import asyncio
import copy
from datetime import datetime, timedelta
from typing import Any

import pytest

from pyopscaffold.errors import AlreadyExists, Conflict, ConnectionFailed, KubeconfigError, NotFound
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.leader import LeaderElector, LeaseTimes


class LeaseStore:
    """The three requests that an elector makes, on one lease; ``reachable`` False means no answer."""

    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.version = 0
        self.reachable: set[str] | None = None
        self.reads = 0

    def _answer(self) -> dict[str, Any]:
        if self.lease is None:
            raise NotFound("no lease")
        return copy.deepcopy(self.lease)

    def _store(self, lease: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        lease["metadata"]["resourceVersion"] = str(self.version)
        self.lease = lease
        return self._answer()

    async def get(self, kind: Any, name: str, *, namespace: str) -> dict[str, Any]:
        """See Client."""
        self.reads += 1
        return self._answer()

    async def create(self, lease: dict[str, Any], *, field_manager: str) -> dict[str, Any]:
        """See Client."""
        if self.lease is not None:
            raise AlreadyExists("there is one")
        return self._store(copy.deepcopy(lease))

    async def patch(self, kind: Any, name: str, patch: dict[str, Any], **_: Any) -> dict[str, Any]:
        """See Client."""
        lease = self._answer()
        if patch["metadata"]["resourceVersion"] != lease["metadata"]["resourceVersion"]:
            raise Conflict("it moved on")
        lease["spec"] |= patch["spec"]
        return self._store(lease)


class Cut:
    """One replica's way to the store, which can be cut."""

    def __init__(self, store: LeaseStore | Slow) -> None:
        self._store = store
        self.error: Exception = ConnectionFailed("refused")
        self.cut = False
        self.silent = False

    def __getattr__(self, name: str) -> Any:
        if self.silent:
            return self._hang
        if self.cut:
            return self._refuse
        return getattr(self._store, name)

    async def _refuse(self, *_: Any, **__: Any) -> None:
        raise self.error

    async def _hang(self, *_: Any, **__: Any) -> None:
        await asyncio.Future()


class Slow:
    """A way to the store on which the answers to writes are long under way."""

    def __init__(self, store: LeaseStore, clock: ManualClock, seconds: float) -> None:
        self._store, self._clock, self._seconds = store, clock, seconds
        self.get = store.get

    def __getattr__(self, name: str) -> Any:
        async def write(*args: Any, **options: Any) -> Any:
            answer = await getattr(self._store, name)(*args, **options)
            await self._clock.sleep(self._seconds)
            return answer

        return write


@pytest.fixture
def clock() -> ManualClock:
    """Give a clock that stands still."""
    return ManualClock()


@pytest.fixture
def store() -> LeaseStore:
    """Give a server without the lease."""
    return LeaseStore()


def candidate(client: Any, clock: ManualClock, identity: str, *, times: LeaseTimes | None = None) -> LeaderElector:
    """Make a candidate for the one lease."""
    return LeaderElector(client, namespace="ns", name="lease", identity=identity, clock=clock, times=times)


async def settle() -> None:
    """Let everything run that can run now."""
    for _ in range(20):
        await asyncio.sleep(0)


async def pass_time(clock: ManualClock, seconds: int) -> None:
    """Let so many seconds pass, one at a time."""
    for _ in range(seconds):
        clock.advance(1)
        await settle()


async def test_second_waits_for_the_first(clock: ManualClock, store: LeaseStore) -> None:
    """While the holder renews, nobody else gets the lease; after its release the other has it within a retry."""
    first, second = candidate(store, clock, "first"), candidate(store, clock, "second")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    waiting = asyncio.ensure_future(second.acquire())
    await pass_time(clock, 120)
    assert not waiting.done()
    assert not holding.done()
    holding.cancel()
    await first.release()
    await pass_time(clock, 2)
    assert waiting.done()
    assert store.lease is not None
    assert store.lease["spec"]["holderIdentity"] == "second"
    assert store.lease["spec"]["leaseTransitions"] == 1


async def test_dead_holder_is_replaced_when_the_lease_is_over(clock: ManualClock, store: LeaseStore) -> None:
    """A holder that stops renewing is replaced after the lease's duration by the waiting one's clock, not before."""
    await candidate(store, clock, "dead").acquire()
    waiting = asyncio.ensure_future(candidate(store, clock, "second").acquire())
    await settle()
    await pass_time(clock, 14)
    assert not waiting.done()
    await pass_time(clock, 3)
    assert waiting.done()


async def test_a_lease_lasts_as_long_as_its_holder_gave_it(clock: ManualClock, store: LeaseStore) -> None:
    """A replica set to shorter leases does not take the lease of one that renews it in time by its own longer ones."""
    await (first := candidate(store, clock, "first")).acquire()
    holding = asyncio.ensure_future(first.hold())
    waiting = asyncio.ensure_future(candidate(store, clock, "second", times=LeaseTimes.of(1)).acquire())
    await pass_time(clock, 60)
    assert not waiting.done()
    holding.cancel()
    await pass_time(clock, 16)
    assert waiting.done()
    assert store.lease is not None
    assert store.lease["spec"]["leaseDurationSeconds"] == 1


async def test_time_stamps_of_others_do_not_matter(clock: ManualClock, store: LeaseStore) -> None:
    """A lease whose time stamps lie in the past (the holder's clock is wrong) is not taken while it is renewed."""
    await candidate(store, clock, "first").acquire()
    assert store.lease is not None
    store.lease["spec"]["renewTime"] = "2001-01-01T00:00:00.000000Z"
    waiting = asyncio.ensure_future(candidate(store, clock, "second").acquire())
    await pass_time(clock, 14)
    assert not waiting.done()
    waiting.cancel()


class JumpingClock(ManualClock):
    """A clock whose time of day somebody sets."""

    def __init__(self) -> None:
        super().__init__()
        self.off = timedelta()

    def now(self) -> datetime:
        """See Clock."""
        return super().now() + self.off


@pytest.mark.parametrize("hours", [-2, 2])
@pytest.mark.parametrize("whose", ["holder", "candidate"])
async def test_a_jump_of_the_time_of_day_changes_nothing(store: LeaseStore, hours: int, whose: str) -> None:
    """When a machine's clock is set forward or back, the lease stays with its holder, and is given over in time."""
    clocks = {"holder": JumpingClock(), "candidate": JumpingClock()}
    way = Cut(store)
    await (first := candidate(way, clocks["holder"], "first")).acquire()
    holding = asyncio.ensure_future(first.hold())
    waiting = asyncio.ensure_future(candidate(store, clocks["candidate"], "second").acquire())

    async def both(seconds: int) -> None:
        for _ in range(seconds):
            for clock in clocks.values():
                clock.advance(1)
            await settle()

    await both(5)
    clocks[whose].off = timedelta(hours=hours)
    await both(60)
    assert not holding.done()
    assert not waiting.done()
    way.cut = True
    await both(11)
    assert holding.done()
    assert not waiting.done()
    await both(7)
    assert waiting.done()


async def test_release_takes_no_longer_than_it_may(clock: ManualClock, store: LeaseStore) -> None:
    """A server that does not answer holds a stopping process up for no more than it has left."""
    way = Cut(store)
    await (first := candidate(way, clock, "first")).acquire()
    way.silent = True
    releasing = asyncio.ensure_future(first.release(within=2.0))
    await settle()
    await pass_time(clock, 1)
    assert not releasing.done()
    await pass_time(clock, 1)
    assert releasing.done()


async def test_holder_without_a_server_gives_up_before_others_begin(clock: ManualClock, store: LeaseStore) -> None:
    """Cut off from the server, the holder gives up after 10 s; another one begins after 15 s at the earliest."""
    way = Cut(store)
    first = candidate(way, clock, "first")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    waiting = asyncio.ensure_future(candidate(store, clock, "second").acquire())
    await settle()
    way.cut = True
    await pass_time(clock, 9)
    assert not holding.done()
    await pass_time(clock, 2)
    assert holding.done()
    assert not waiting.done()
    await pass_time(clock, 6)
    assert waiting.done()


async def test_holder_whose_requests_hang_gives_up_before_others_begin(clock: ManualClock, store: LeaseStore) -> None:
    """A server that does not answer at all costs the lease after 10 s too, however the requests' own limits fall."""
    way = Cut(store)
    first = candidate(way, clock, "first")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    await settle()
    way.silent = True
    await pass_time(clock, 9)
    assert not holding.done()
    await pass_time(clock, 1)
    assert holding.done()


async def test_a_lease_counts_from_when_it_was_asked_for(clock: ManualClock, store: LeaseStore) -> None:
    """An answer that takes long does not prolong the lease: the server, and so the others, count from before it."""
    way = Cut(Slow(store, clock, 4.0))
    first = candidate(way, clock, "first")
    acquiring = asyncio.ensure_future(first.acquire())
    await settle()
    await pass_time(clock, 4)
    assert acquiring.done()
    holding = asyncio.ensure_future(first.hold())
    way.cut = True
    await pass_time(clock, 5)
    assert not holding.done()
    await pass_time(clock, 1)
    assert holding.done()


@pytest.mark.parametrize("error", [ConnectionFailed("refused"), KubeconfigError("the credential plugin failed")])
async def test_short_outage_does_not_cost_the_lease(clock: ManualClock, store: LeaseStore, error: Exception) -> None:
    """An outage below the deadline, of the server or of our credentials, is sat out; then the lease is renewed."""
    way = Cut(store)
    way.error = error
    first = candidate(way, clock, "first")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    await settle()
    way.cut = True
    await pass_time(clock, 7)
    way.cut = False
    await pass_time(clock, 60)
    assert not holding.done()
    holding.cancel()


async def test_stolen_lease_is_lost_at_once(clock: ManualClock, store: LeaseStore) -> None:
    """When another holder stands in the lease, the old one notices at its next renewal."""
    first = candidate(store, clock, "first")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    await settle()
    assert store.lease is not None
    lease = copy.deepcopy(store.lease)
    lease["spec"]["holderIdentity"] = "thief"
    store._store(lease)
    await pass_time(clock, 4)
    assert holding.done()
    await first.release()
    assert store.lease["spec"]["holderIdentity"] == "thief"


async def test_release_after_a_renewal_that_was_broken_off(clock: ManualClock, store: LeaseStore) -> None:
    """A stop may cut off a renewal that the server has taken: the lease is given up all the same."""
    first = candidate(store, clock, "first")
    await first.acquire()
    assert store.lease is not None
    store._store(copy.deepcopy(store.lease))
    await first.release()
    assert store.lease["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize("there", [True, False])
async def test_release_after_an_acquisition_that_was_broken_off(
    clock: ManualClock, store: LeaseStore, *, there: bool
) -> None:
    """A candidate that is stopped while the server gives it the lease leaves nothing behind that others wait for."""
    if there:
        await (earlier := candidate(store, clock, "earlier")).acquire()
        await earlier.release()

    class Silent(Cut):
        """Takes writes, and does not answer them."""

        async def create(self, *args: Any, **options: Any) -> None:
            await store.create(*args, **options)
            await asyncio.Future()

        async def patch(self, *args: Any, **options: Any) -> None:
            await store.patch(*args, **options)
            await asyncio.Future()

    way: Any = Silent(store)
    waiting = asyncio.ensure_future((first := candidate(way, clock, "first")).acquire())
    await settle()
    assert store.lease is not None
    assert store.lease["spec"]["holderIdentity"] == "first"
    waiting.cancel()
    await settle()
    first._client = store  # type: ignore[assignment]  # the way is open again
    await first.release()
    assert store.lease["spec"]["holderIdentity"] == ""


async def test_renewing_does_not_read(clock: ManualClock, store: LeaseStore) -> None:
    """In the steady state a renewal is one write, with the version of the last one as precondition."""
    first = candidate(store, clock, "first")
    await first.acquire()
    holding = asyncio.ensure_future(first.hold())
    await settle()
    reads, version = store.reads, store.version
    await pass_time(clock, 20)
    assert (store.reads - reads, store.version - version) == (0, 10)
    holding.cancel()
