"""Sharding as a simulation: replicas that come, go, stall and are cut off, their requests in any order."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.fencing import Grant
from pyopscaffold.runtime.membership import Membership, ShardTimes
from pyopscaffold.runtime.reconcile import Request
from pyopscaffold.runtime.ring import Ring
from pyopscaffold.runtime.sharding import Shards
from tests.unit.runtime.lease_store import Gated, Store

KEYS = [Request("ns", f"object-{number}") for number in range(6)]
TIMES = ShardTimes(duration=15)
MOST = 4

names = st.lists(st.text("abcdef0123456789", min_size=1, max_size=8), min_size=1, max_size=8, unique=True)


@given(names, st.text(min_size=1, max_size=8))
def test_a_newcomer_takes_and_nobody_else_moves(members: list[str], newcomer: str) -> None:
    """Who joins gets keys of all others, and no key moves between those; so nor does one when somebody leaves."""
    before, after = Ring(members), Ring([*members, newcomer])
    for number in range(50):
        old, new = before.owner("ns", str(number)), after.owner("ns", str(number))
        assert new in {old, newcomer}


@given(names)
def test_shares_are_alike(members: list[str]) -> None:
    """Of many keys each member has about as many as any other, and the order of the members does not matter."""
    ring, keys = Ring(members), range(200 * len(members))
    shares = Counter(ring.owner("ns", str(number)) for number in keys)
    assert all(120 < shares[member] < 280 for member in members)
    assert all(
        ring.owner("ns", str(number)) == Ring(reversed(members)).owner("ns", str(number)) for number in keys[:20]
    )


@dataclass
class Replica:
    """One replica, with what it works on."""

    gated: Gated
    membership: Membership
    shards: Shards
    held: dict[Request, Grant] = field(default_factory=dict)
    turn: asyncio.Task[None] | None = None
    frozen: bool = False

    def step(self) -> None:
        """Go on by half a request."""
        while self.gated.gates:
            gate = self.gated.gates.pop(0)
            if not gate.done():
                gate.set_result(None)
                return
        if self.turn is None or self.turn.done():
            self.turn = asyncio.ensure_future(self.membership.turn())

    def give_back(self, key: Request) -> None:
        """End the work on an object."""
        del self.held[key]
        self.shards.give_back(key)

    def end(self) -> None:
        """Break off what is under way."""
        if self.turn is not None:
            self.turn.cancel()


class Simulation:
    """Replicas whose every half request, work, trouble and passing of time is drawn, most of it for progress."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a schedule
        random.seed(seed)  # the Leases' names
        self.clock = ManualClock()
        self.store = Store()
        self.replicas: list[Replica] = []
        self.made = 0

    async def run(self, events: int) -> None:
        """Draw so many events, with the one condition that always holds checked after each."""
        weights = {self.go_on: 60, self.work: 12, self.finish: 8, self.time: 14, self.start: 2, self.trouble: 2}
        for event in self.random.choices(list(weights), list(weights.values()), k=events):
            event()
            await _settle()
            self.check()

    def go_on(self) -> None:
        """Let half a request of a replica go on."""
        for replica in self._awake():
            replica.step()

    def work(self) -> None:
        """Begin to work on whatever may be worked on."""
        for replica in self._awake():
            for key in KEYS:
                if key not in replica.held and (grant := replica.shards.take(key)) is not None:
                    replica.held[key] = grant

    def finish(self) -> None:
        """End the work on some objects."""
        for replica in self._awake():
            for key in self.random.sample(sorted(replica.held), self.random.randint(0, len(replica.held))):
                replica.give_back(key)

    def time(self) -> None:
        """Let time pass; now and then so much that requests and Leases run out of it."""
        self.clock.advance(self.random.choice([0.05, 0.1, 0.2, 0.4, 0.8, TIMES.retry, TIMES.retry, 4.0]))

    def start(self) -> None:
        """Start a replica."""
        if len(self.replicas) == MOST:
            return
        shards, gated = Shards(), Gated(self.store)
        member = Membership(
            gated,  # as much of a client as it needs
            namespace="ns",
            name="shard",
            group="example.com",
            identity=f"host-{self.made}",
            clock=self.clock,
            told=shards.told,
            times=TIMES,
        )
        shards.attach(member)
        self.made += 1
        self.replicas.append(Replica(gated, member, shards))

    def trouble(self) -> None:
        """Stop a replica or wake it up, or end it without a word."""
        for replica in self._some():
            if self.random.random() < 0.8:
                replica.frozen = not replica.frozen
            else:
                self.replicas.remove(replica)
                replica.end()

    def check(self) -> None:
        """Of all replicas, also those that are stopped, one at most may write to an object."""
        working = Counter(key for replica in self.replicas for key, grant in replica.held.items() if grant.left() > 0)
        assert all(count == 1 for count in working.values()), working

    async def calm(self) -> None:
        """Let all wake up, work and renew for the time of a Lease: then each object has one replica."""
        self.start()
        for replica in self.replicas:
            replica.end()
            replica.gated.open = True
            for key in list(replica.held):
                replica.give_back(key)
        for _ in range(16):
            for replica in self.replicas:
                await replica.membership.turn()
            self.clock.advance(TIMES.retry)
            await _settle()
        for replica in self.replicas:
            await replica.membership.turn()
        for key in KEYS:
            assert sum(replica.shards.take(key) is not None for replica in self.replicas) == 1
        await self.replicas[0].membership.leave()
        assert not any(self.replicas[0].shards.take(key) for key in KEYS)

    def _some(self) -> list[Replica]:
        return self.random.sample(self.replicas, 1) if self.replicas else []

    def _awake(self) -> list[Replica]:
        return [replica for replica in self._some() if not replica.frozen]


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_one_works_on_each_object(seed: int) -> None:
    """However requests, stops, losses and time fall together, no two work on one object, and in the end one does."""

    async def simulate() -> None:
        simulation = Simulation(seed)
        await simulation.run(400)
        await simulation.calm()

    asyncio.run(simulate())


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
