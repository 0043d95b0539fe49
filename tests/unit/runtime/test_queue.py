from __future__ import annotations

import asyncio
import gc
import weakref
from dataclasses import dataclass

import pytest

from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.queue import INITIAL_PRIORITY, Backoff, WorkQueue


@pytest.fixture
def clock() -> ManualClock:
    """Give a clock that stands still."""
    return ManualClock()


@pytest.fixture
def queue(clock: ManualClock) -> WorkQueue[str]:
    """Give an empty queue."""
    return WorkQueue(clock=clock)


@dataclass(frozen=True)
class Item:
    """A key that can be watched going."""

    name: str


async def take(queue: WorkQueue[str], count: int) -> list[str | None]:
    """Take so many items at once."""
    return [await queue.get() for _ in range(count)]


async def test_changes_come_before_the_initial_list(queue: WorkQueue[str]) -> None:
    """What changes now comes before what was there at the start; within a priority, first come, first served."""
    queue.add("old-1", priority=INITIAL_PRIORITY)
    queue.add("old-2", priority=INITIAL_PRIORITY)
    queue.add("new-1")
    queue.add("new-2")
    assert await take(queue, 4) == ["new-1", "new-2", "old-1", "old-2"]


async def test_a_change_lifts_an_item_of_the_initial_list(queue: WorkQueue[str]) -> None:
    """An item of the initial list that changes is handed out at once, and only once."""
    queue.add("a", priority=INITIAL_PRIORITY)
    queue.add("b", priority=INITIAL_PRIORITY)
    queue.add("b")
    assert await take(queue, 2) == ["b", "a"]
    assert queue.depth() == {}


async def test_an_immediate_addition_absorbs_a_delayed_one(queue: WorkQueue[str], clock: ManualClock) -> None:
    """Whoever works on an item decides when to look again, so an earlier plan is void."""
    queue.add("a", after=10)
    queue.add("a")
    assert await queue.get() == "a"
    queue.done("a")
    clock.advance(20)
    await asyncio.sleep(0)
    assert queue.depth() == {}


async def test_drain_waits_for_what_is_worked_on(queue: WorkQueue[str]) -> None:
    """After shut_down, drained returns when the last item is given back; what waited is dropped."""
    queue.add("a")
    queue.add("b")
    assert await queue.get() == "a"
    queue.shut_down()
    drained = asyncio.ensure_future(queue.drained())
    await asyncio.sleep(0)
    assert not drained.done()
    queue.done("a")
    await drained
    assert await queue.get() is None


def test_backoff_grows_to_its_cap() -> None:
    """An item's delay doubles from the base to the cap, and a success would start it anew."""
    backoff = Backoff()
    delays = [backoff.delay(failures, now=1e6 * failures) for failures in range(20)]
    assert delays[:4] == [0.005, 0.01, 0.02, 0.04]
    assert delays[-1] == 1000.0


def test_backoff_limits_the_overall_rate() -> None:
    """A storm of failures of many items is spread out to ten a second above a burst of a hundred."""
    backoff = Backoff()
    delays = [backoff.delay(0, now=0.0) for _ in range(150)]
    assert delays[99] == 0.005
    assert delays[149] == pytest.approx(5.0)


async def test_failures_of_the_server_wait_for_no_turn(queue: WorkQueue[str]) -> None:
    """Many items that one outage failed follow soon, each by its own backoff, and leave the bucket to others."""
    delays = [queue.retry(f"item-{number}", limited=False) for number in range(5000)]
    assert {*delays} == {0.005}
    assert queue.retry("another") == 0.005


async def test_the_longest_backoff_is_the_cap(clock: ManualClock) -> None:
    """A failure that soon trying again can't mend waits for the cap at once."""
    queue: WorkQueue[str] = WorkQueue(clock=clock, backoff=Backoff(cap=100.0))
    assert queue.retry("a", longest=True) == 100.0
    clock.advance(99.9)
    await asyncio.sleep(0)
    assert queue.depth() == {}
    clock.advance(0.2)
    assert await queue.get() == "a"


async def test_a_failure_may_say_within_what_time_to_try_again(queue: WorkQueue[str]) -> None:
    """However often it has failed, it does not wait longer than that; shorter backoffs stay as they are."""
    delays = [queue.retry("a", within=60.0) for _ in range(20)]
    assert delays[:3] == [0.005, 0.01, 0.02]
    assert delays[-1] == 60.0


async def test_nobody_waits_for_ever(queue: WorkQueue[str]) -> None:
    """An endless stream of fresh urgent items lets others through: every tenth turn is that of whoever came first."""
    queue.add("low-1", priority=-100)
    queue.add("low-2", priority=-100)
    turns = {}
    for number in range(1, 31):
        queue.add(f"fresh-{number}", priority=5)
        item = await queue.get()
        assert item is not None
        turns[item] = number
        queue.done(item)
    assert (turns["low-1"], turns["low-2"]) == (10, 20)
    assert turns["fresh-1"] == 1


async def test_what_comes_again_is_as_urgent_as_it_was(queue: WorkQueue[str], clock: ManualClock) -> None:
    """A failure, or a wish to look again, makes nothing of the initial list more urgent than what changes now."""
    for name in ("failed", "later"):
        queue.add(name, priority=INITIAL_PRIORITY)
    assert await take(queue, 2) == ["failed", "later"]
    queue.retry("failed")
    queue.requeue("later", after=1)
    for name in ("failed", "later"):
        queue.done(name)
    clock.advance(2)
    queue.add("new")
    assert await take(queue, 3) == ["new", "failed", "later"]


async def test_replaced_delays_are_let_go(queue: WorkQueue[str], clock: ManualClock) -> None:
    """An item that asks for another look in an hour, again and again, does not fill the memory for an hour."""
    gone: list[weakref.ref[Item]] = []
    items: WorkQueue[Item] = WorkQueue(clock=clock)
    for number in range(1000):
        item = Item(f"item-{number % 2}")
        gone.append(weakref.ref(item))
        items.add(item, after=3600)
        items.add(item)
        assert await items.get() == item
        items.done(item)
    del item
    gc.collect()
    assert sum(reference() is not None for reference in gone) < 100
