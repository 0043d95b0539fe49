from __future__ import annotations

import asyncio
import gc
import itertools
import weakref
from dataclasses import dataclass

import pytest

from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.queue import FIRST_HOLD, INITIAL_PRIORITY, LONGEST_HOLD, Backoff, WorkQueue


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


async def fail(queue: WorkQueue[str], count: int, *, asked: float = 0.0) -> list[str]:
    """Have the server fail the next items."""
    failed = [item for item in await take(queue, count) if item is not None]
    for item in failed:
        queue.hold(item, asked=asked)
        queue.done(item)
    return failed


async def held(queue: WorkQueue[str], *names: str, asked: float = 0.0) -> None:
    """Add items, and have the server fail them."""
    for name in names:
        queue.add(name)
    await fail(queue, len(names), asked=asked)


async def ready(queue: WorkQueue[str]) -> int:
    """Say how many items could be taken at once."""
    for _ in range(5):
        await asyncio.sleep(0)
    return sum(queue.depth().values())


async def test_an_outage_is_probed_by_one_item_after_the_other(queue: WorkQueue[str], clock: ManualClock) -> None:
    """However many items the server has failed, they share one backoff, which doubles up to ten seconds."""
    await held(queue, *(f"item-{number:03}" for number in range(1000)))
    tries, probes = [], []
    for _ in range(400):
        clock.advance(0.1)
        if await ready(queue):
            tries.append(clock.monotonic())
            probes += await fail(queue, 1)
    gaps = [later - sooner for sooner, later in itertools.pairwise(tries)]
    assert gaps[:6] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4], abs=0.11)
    assert gaps[6:] == pytest.approx([10.0] * 2, abs=0.11)
    assert probes == [f"item-{number:03}" for number in range(len(probes))]


async def test_each_answer_lets_two_others_go(queue: WorkQueue[str], clock: ManualClock) -> None:
    """Once the server answers again, all that it has failed is under way within a few answers."""
    await held(queue, *(f"item-{number}" for number in range(100)))
    clock.advance(FIRST_HOLD)
    at_once = [await ready(queue)]
    while at_once[-1]:
        for item in await take(queue, at_once[-1]):
            assert item is not None
            queue.forget(item)
            queue.done(item)
        at_once.append(await ready(queue))
    assert at_once == [1, 2, 4, 8, 16, 32, 37, 0]


async def test_an_answer_starts_the_backoff_anew(queue: WorkQueue[str], clock: ManualClock) -> None:
    """After a long outage with one answer in it, the next one is found out about as the first was."""
    await held(queue, *(f"item-{number}" for number in range(100)))
    for _ in range(10):
        clock.advance(LONGEST_HOLD)
        await ready(queue)
        await fail(queue, 1)
    clock.advance(LONGEST_HOLD)
    item = await queue.get()
    assert item is not None
    queue.forget(item)
    queue.done(item)
    await fail(queue, 2)
    clock.advance(FIRST_HOLD)
    assert await ready(queue) == 1
    await fail(queue, 1)
    clock.advance(2 * FIRST_HOLD)
    assert await ready(queue) == 1


async def test_a_failure_of_its_own_is_an_answer_too(queue: WorkQueue[str], clock: ManualClock) -> None:
    """Whoever gets a conflict, say, has reached the server."""
    await held(queue, "a", "b", "c")
    clock.advance(FIRST_HOLD)
    assert await queue.get() == "a"
    queue.retry("a")
    queue.done("a")
    assert await take(queue, 2) == ["b", "c"]


async def test_who_changed_while_the_server_failed_it_speaks_for_it_too(
    queue: WorkQueue[str], clock: ManualClock
) -> None:
    """An item that is asked for again in the moment of its failure is not held; its answer counts all the same."""
    for name in "abc":
        queue.add(name)
    await take(queue, 3)
    queue.add("a")
    for name in "abc":
        queue.hold(name)
        queue.done(name)
    assert await queue.get() == "a"
    queue.forget("a")
    queue.done("a")
    assert await take(queue, 2) == ["b", "c"]


async def test_who_does_not_know_whether_the_server_works_lets_nobody_go(
    queue: WorkQueue[str], clock: ManualClock
) -> None:
    """A reconcile whose time is over, say, while the server hangs."""
    await held(queue, "a", "b", "c")
    clock.advance(FIRST_HOLD)
    assert await queue.get() == "a"
    queue.retry("a", answered=False)
    queue.done("a")
    assert await ready(queue) == 0


async def test_an_outage_does_not_count_as_failures_of_an_objects_own(
    queue: WorkQueue[str], clock: ManualClock
) -> None:
    """Who gets a conflict after an outage of an hour tries again as soon as without it."""
    queue.add("a")
    for _ in range(20):
        await fail(queue, 1)
        clock.advance(LONGEST_HOLD)
        await ready(queue)
    assert await queue.get() == "a"
    assert queue.failures("a") == 0
    assert queue.retry("a") == 0.005


async def test_changes_do_not_wait_for_the_server(queue: WorkQueue[str]) -> None:
    """What changes during an outage is tried at once, be it held or not; and is handed out once."""
    await held(queue, "a", "b", "c")
    queue.add("b")
    queue.add("new")
    assert await take(queue, 2) == ["b", "new"]
    assert await ready(queue) == 0


async def test_who_always_fails_holds_up_nobody(queue: WorkQueue[str], clock: ManualClock) -> None:
    """An item that the server fails now is the next to be tried, not the last behind those that it always fails."""
    await held(queue, *(f"always-{number}" for number in range(100)))
    await held(queue, *(f"always-{number}" for number in range(100)))
    await held(queue, "now")
    clock.advance(FIRST_HOLD)
    assert await queue.get() == "now"


async def test_who_has_failed_least_often_is_tried_first(queue: WorkQueue[str], clock: ManualClock) -> None:
    """The server's failures in a row count, each of them."""
    await held(queue, "thrice", "twice")
    await held(queue, "thrice")
    await held(queue, "thrice", "twice")
    clock.advance(FIRST_HOLD)
    assert await queue.get() == "twice"


async def test_a_probe_that_hangs_is_not_the_last(queue: WorkQueue[str], clock: ManualClock) -> None:
    """While one waits for its answer, the next is tried in time."""
    await held(queue, "a", "b", "c")
    clock.advance(FIRST_HOLD)
    assert await queue.get() == "a"
    clock.advance(2 * FIRST_HOLD)
    assert await ready(queue) == 1


async def test_what_is_due_sooner_puts_nothing_off(queue: WorkQueue[str], clock: ManualClock) -> None:
    """There is one timer for what is delayed and what is held: after the one it is set for the other."""
    await held(queue, "a")
    queue.add("sooner", after=FIRST_HOLD / 2)
    clock.advance(FIRST_HOLD / 2)
    assert await ready(queue) == 1
    clock.advance(FIRST_HOLD / 2)
    assert await ready(queue) == 2


async def test_further_failures_put_nothing_off(queue: WorkQueue[str], clock: ManualClock) -> None:
    """Those that fail one after the other do not keep the first from its turn."""
    for number in range(4):
        queue.add(f"item-{number}")
    for _ in range(4):
        await fail(queue, 1)
        clock.advance(FIRST_HOLD / 4)
    assert await ready(queue) == 1


async def test_the_server_may_ask_for_a_pause(queue: WorkQueue[str], clock: ManualClock) -> None:
    """Nothing that it failed is tried before the time that it asked for, which is a minute at most."""
    await held(queue, "a", asked=30)
    clock.advance(29)
    assert await ready(queue) == 0
    clock.advance(1)
    assert await ready(queue) == 1
    await fail(queue, 1, asked=86_400)
    clock.advance(60)
    assert await ready(queue) == 1


async def test_who_is_always_asked_to_wait_holds_up_nobody(queue: WorkQueue[str], clock: ManualClock) -> None:
    """An item that changes every half a minute, and is asked to wait for one each time, is not all that is tried."""
    await held(queue, "limited", "another", asked=60)
    tried = []
    for _ in range(3):
        clock.advance(30)
        queue.add("limited")
        tried += await fail(queue, await ready(queue), asked=60)
    assert tried.count("another") == 1


async def test_each_trial_may_bring_another_wish_to_wait(queue: WorkQueue[str], clock: ManualClock) -> None:
    """The minute at most is counted from the last trial, not from when the server was first asked."""
    clock.advance(1000)
    await held(queue, "a", "b", asked=60)
    for _ in range(3):
        clock.advance(59)
        assert await ready(queue) == 0
        clock.advance(1)
        await fail(queue, await ready(queue), asked=60)
    clock.advance(30)
    await held(queue, "c", asked=60)
    clock.advance(29)
    assert await ready(queue) == 0
    clock.advance(1)
    assert await ready(queue) == 1


async def test_failures_of_the_server_take_no_turn_of_others(queue: WorkQueue[str]) -> None:
    """Thousands that it fails leave the overall rate of retries to those that fail for reasons of their own."""
    await held(queue, *(f"item-{number}" for number in range(5000)))
    assert queue.retry("another") == 0.005


async def test_nothing_is_held_after_the_end(queue: WorkQueue[str]) -> None:
    """A reconcile that ends after shut_down, well or not, leaves no timer behind."""
    for name in "abc":
        queue.add(name)
    await take(queue, 2)
    before = asyncio.all_tasks()
    queue.hold("a")
    queue.shut_down()
    queue.hold("b")
    queue.forget("b")
    queue.forget("a")
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


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
    for name in ("failed", "later", "held"):
        queue.add(name, priority=INITIAL_PRIORITY)
    assert await take(queue, 3) == ["failed", "later", "held"]
    queue.retry("failed")
    queue.requeue("later", after=1)
    queue.hold("held")
    for name in ("failed", "later", "held"):
        queue.done(name)
    clock.advance(2)
    queue.add("new")
    assert await take(queue, 4) == ["new", "failed", "later", "held"]


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
