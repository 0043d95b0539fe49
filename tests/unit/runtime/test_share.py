"""What one replica of several looks at: its own objects, when they become its own and when they change."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pyopscaffold.api import Object, ObjectMeta, TenantConfig, controller, resource
from pyopscaffold.errors import KubeconfigError, NotFound, ServerError
from pyopscaffold.runtime import Context, Reconciler, Result, predicate
from pyopscaffold.runtime.cache import Cache, Delta
from pyopscaffold.runtime.client.transport import Request as HttpRequest
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.controller import Controller
from pyopscaffold.runtime.events import EventRecorder
from pyopscaffold.runtime.fencing import HELD, Grant, GuardedTransport
from pyopscaffold.runtime.membership import Membership, ShardTimes
from pyopscaffold.runtime.metrics import Metrics
from pyopscaffold.runtime.outcome import OwnershipLostError, ReconcileTimeoutError
from pyopscaffold.runtime.queue import FIRST_HOLD, INITIAL_PRIORITY, WorkQueue
from pyopscaffold.runtime.reconcile import Request
from pyopscaffold.runtime.sharding import Part, Shards
from pyopscaffold.testing import FakeCluster
from tests.unit.runtime.lease_store import Gated, Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

TIMES = ShardTimes()
NAMES = [str(number) for number in range(20)]
CALM = 20
"""So many turns of the event loop without anything to do, and all is done."""


@dataclass(kw_only=True)
class PieceSpec:
    size: int = 0


@resource(group="pieces.example.com", version="v1")
@dataclass(kw_only=True)
class Piece(Object):
    """An object that is somebody's."""

    spec: PieceSpec = field(default_factory=PieceSpec)


def is_wanted(delta: Delta) -> bool:
    """Accept what is labelled so."""
    return delta.new is not None and "wanted" in delta.new.meta.labels


class Looks(Reconciler[Piece]):
    """Notes whom it was called for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.during: Callable[[], None] = lambda: None

    async def reconcile(self, ctx: Context, obj: Piece) -> Result:
        """Note it."""
        self.names.append(obj.metadata.name)
        self.during()
        return Result()


@dataclass
class World:
    """A controller with its share, a server, and the places of this replica and of others."""

    cluster: FakeCluster
    shards: Shards
    looks: Looks
    metrics: Metrics
    queue: WorkQueue[Request]
    clock: ManualClock
    store: Store = field(default_factory=Store)
    places: list[Membership] = field(default_factory=list)

    def join(self, shards: Shards) -> None:
        """Take a place among the replicas."""
        gated = Gated(self.store)
        gated.open = True
        place = Membership(
            gated,  # as much of a client as it needs
            namespace="ns",
            name="shard",
            group="pieces.example.com",
            identity="host",
            clock=self.clock,
            told=shards.told,
        )
        shards.attach(place)
        self.places.append(place)

    async def agree(self) -> None:
        """Let the replicas look at each other until all divide the objects alike."""
        for place in self.places * 4:
            await place.turn()

    async def share(self) -> tuple[list[str], list[str]]:
        """Have another replica join, and return the names that are ours, and those that are its own."""
        self.join(Shards())
        await self.agree()
        await self.told()  # the look at all objects that this change brings on is over
        ours = [name for name in NAMES if self.shards.part.has("default", name)]
        assert 0 < len(ours) < len(NAMES)
        return ours, [name for name in NAMES if name not in ours]

    def value(self, metric: str) -> float:
        """Read a metric of the controller."""
        lines = (text.rpartition(" ") for text in self.metrics.text().decode().splitlines())
        return next(float(value) for name, _, value in lines if name.partition("{")[0] == metric)

    async def make(self, *names: str, **metadata: dict[str, str]) -> None:
        """Make Pieces."""
        for name in names:
            piece = Piece(metadata=ObjectMeta(name=name, namespace="default", **metadata))  # type: ignore[arg-type]  # a part
            await self.cluster.client.create(piece, field_manager="tests")

    async def change(self, *names: str) -> None:
        """Change Pieces."""
        for name in names:
            await self.cluster.client.patch(Piece, name, {"spec": {"size": 1}}, namespace="default")

    async def told(self) -> list[str]:
        """Return whose turn it was since the last time."""
        calm, transport = 0, self.cluster.transport
        while calm < CALM:
            await asyncio.sleep(0)
            busy = transport.in_flight or self.queue.depth() or self.queue.in_progress()
            calm = 0 if busy or not all(watch.idle for watch in transport.watches) else calm + 1
        names, self.looks.names = sorted(self.looks.names, key=int), []
        return names


@asynccontextmanager
async def sharing(**declared: Any) -> AsyncIterator[World]:
    """Run a controller in the only replica so far."""
    cluster, clock, metrics, shards = FakeCluster(Piece), ManualClock(), Metrics(), Shards()
    looks, client = controller(Piece, name="looks", **declared)(Looks)(), cluster.client
    cache = Cache(client, clock=clock)
    events = EventRecorder(client, controller="looks", instance="me", clock=clock)
    of_looks = metrics.controller("looks")
    runs = Controller(looks, client=client, cache=cache, events=events, metrics=of_looks, clock=clock, shards=shards)
    world = World(cluster, shards, looks, metrics, runs.queue, clock)
    running = [asyncio.create_task(cache.run())]
    await cache.wait_synced()
    running.append(asyncio.create_task(runs.run()))
    world.join(shards)
    try:
        await world.agree()
        yield world
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def test_news_of_others_objects_are_nobodys_here() -> None:
    """What is another's is not even queued, nor counted as a reconcile: neither its changes nor its tenant's."""
    async with sharing(tenants=TenantConfig(name="settings")) as world:
        ours, theirs = await world.share()
        await world.make(*NAMES)
        assert await world.told() == ours
        added = world.value("workqueue_adds_total")
        await world.change(*theirs)
        assert await world.told() == []
        assert world.value("workqueue_adds_total") == added
        settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
        await world.cluster.client.create(settings, field_manager="tests")
        assert await world.told() == ours
        assert world.value("workqueue_adds_total") == added + len(ours)


async def test_what_becomes_ours_is_taken_up_once() -> None:
    """Who gets an object looks at it, if the predicates accept it; a sighting that changes nothing is no reason to."""
    async with sharing(predicates=[predicate.generation_changed, is_wanted]) as world:
        ours, theirs = await world.share()
        await world.make(*ours, *theirs[1:], labels={"wanted": "yes"})
        await world.make(theirs[0])
        assert await world.told() == ours
        changes: list[tuple[Part, Part]] = []
        world.shards.listen(lambda old, new: changes.append((old, new)))
        await world.agree()
        assert (changes, await world.told()) == ([], [])
        waiting: list[dict[int, int]] = []
        world.looks.during = lambda: waiting.append(world.queue.depth())
        await world.places.pop().leave()
        await world.agree()
        assert await world.told() == theirs[1:]
        assert changes
        assert waiting[0] == {INITIAL_PRIORITY: len(theirs) - 2}  # behind what changes meanwhile


async def test_the_share_is_counted_as_objects_come_and_go() -> None:
    """The number of our objects is right without a look at all of them."""
    async with sharing() as world:
        ours, theirs = await world.share()
        await world.make(*NAMES)
        await world.told()
        assert world.value("pyopscaffold_shard_objects") == len(ours)
        for name in (ours[0], theirs[0]):
            await world.cluster.client.delete(Piece, name, namespace="default")
        await world.told()
        assert world.value("pyopscaffold_shard_objects") == len(ours) - 1
        await world.places.pop().leave()
        await world.agree()
        await world.told()
        assert world.value("pyopscaffold_shard_objects") == len(NAMES) - 2


@pytest.mark.parametrize(
    ("error", "logged"),
    [(NotFound("page not found"), 0), (KubeconfigError("no credential"), 3)],
)
async def test_what_cannot_be_taken_over_is_tried_again(
    error: Any, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Its kind may not be served for a moment, nor a credential be had; neither is a defect, whose stack is shown."""
    async with sharing() as world:
        world.cluster.fail(error, verb="patch", kind=Piece, times=3)
        await world.make("0")
        looked: list[str] = []
        for _ in range(5):
            looked += await world.told()
            world.clock.advance(1)
        assert looked == ["0"]
    assert [record.exc_info for record in caplog.records if record.levelname == "ERROR"] == [None] * logged


async def test_nothing_is_begun_after_the_lease() -> None:
    """Whose Lease has run out leaves its objects alone, and looks at them when it has renewed it."""
    async with sharing() as world:
        await world.make("0")
        await world.told()
        world.clock.advance(TIMES.deadline)
        await world.change("0")
        assert await world.told() == []
        await world.agree()
        world.clock.advance(FIRST_HOLD)
        assert await world.told() == ["0"]


async def test_an_outage_is_as_cheap_when_the_lease_runs_out_in_it() -> None:
    """Who may not write, since the server renews no Lease, waits for that as all whom the server has failed."""
    async with sharing() as world:
        world.cluster.fail(ServerError("no", code=503), verb="patch", kind=Piece, times=len(NAMES))
        await world.make(*NAMES)
        looked = await world.told()
        assert len(looked) < len(NAMES) / 2
        world.clock.advance(TIMES.deadline)
        await world.told()
        before = world.value("workqueue_adds_total")
        for _ in range(100):
            world.clock.advance(1)
            await world.told()
        assert world.value("workqueue_adds_total") - before <= 16
        for _ in range(10):
            await world.agree()
            world.clock.advance(TIMES.retry)
            looked += await world.told()
        assert sorted(looked, key=int) == NAMES


async def test_a_reconcile_that_took_too_long_brings_no_others_on() -> None:
    """It may have waited for a server that hangs: whom that has failed is tried one after the other, as before."""
    async with sharing() as world:

        def raise_(error: Exception) -> NoReturn:
            raise error

        world.looks.during = lambda: raise_(ServerError("no", code=503))
        await world.make(*NAMES)
        assert {*await world.told()} == {*NAMES}
        world.looks.during = lambda: raise_(ReconcileTimeoutError("too long"))
        world.clock.advance(FIRST_HOLD)
        assert len(await world.told()) == 1


async def test_what_outlives_the_lease_is_not_told() -> None:
    """How a reconcile ends is nobody's concern when the Lease is over by then: it is no error, and made again."""
    async with sharing() as world:

        def end() -> None:
            world.looks.during = lambda: None
            world.clock.advance(TIMES.deadline)
            raise ValueError("too late")

        world.looks.during = end
        await world.make("0")
        assert await world.told() == ["0"]
        assert world.value("controller_runtime_reconcile_errors_total") == 0
        await world.agree()
        world.clock.advance(TIMES.retry)
        assert await world.told() == ["0"]


async def test_what_is_anothers_is_forgotten() -> None:
    """A pause of an object that another replica has now is not counted here any more."""
    async with sharing() as world:
        await world.make(*NAMES, annotations={"pieces.example.com/paused": "true"})
        assert await world.told() == []
        assert world.value("pyopscaffold_paused_objects") == len(NAMES)
        ours, _ = await world.share()
        assert world.value("pyopscaffold_paused_objects") == len(ours)


class Connecting:
    """A Transport that never gets as far as to send."""

    async def request(self, request: HttpRequest) -> NoReturn:
        """See Transport."""
        await asyncio.Future()
        raise AssertionError


async def test_a_write_does_not_wait_beyond_the_lease() -> None:
    """Neither for a credential nor for a connection, which come before a request's own time: else it would be late."""
    guarded = GuardedTransport(Connecting())  # type: ignore[arg-type]  # as much of one as it needs
    token = HELD.set(Grant("me", lambda: 0.01))
    try:
        async with asyncio.timeout(30):
            with pytest.raises(OwnershipLostError):
                await guarded.request(HttpRequest("PATCH", "/apis/pieces.example.com/v1/pieces/one", timeout=3600.0))
    finally:
        HELD.reset(token)
