"""The work queue's promises, under any order of additions, failures, workers and time."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.queue import FAIR_TURN, FIRST_HOLD, LONGEST_ASKED, LONGEST_HOLD, Backoff, WorkQueue

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = st.sampled_from("abcd")
DELAYS = st.sampled_from([0.0, 0.5, 1.0, 3.0, 10.0])
PRIORITIES = st.sampled_from([-100, 0, 5])


class Wish:
    """What the model knows of a pending item: not before ``due``, how urgent, and in which order they came."""

    def __init__(self, due: float, priority: int, order: int) -> None:
        self.due = due
        self.priority = priority
        self.order = order


class Holding:
    """What the model knows of the items that the server has failed: one is let go at ``until``, two by an answer."""

    def __init__(self) -> None:
        self.items: dict[str, tuple[int, int]] = {}  # by their failures, and by the order in which they came
        self.unanswered: dict[str, int] = {}  # by how often in a row
        self.until = 0.0
        self.still = 0.0  # since when none was let go
        self.row = 0

    def pause(self) -> float:
        """Seconds until the next one is let go."""
        return float(min(FIRST_HOLD * 2**self.row, LONGEST_HOLD))

    def take(self, count: int) -> list[str]:
        """Let the first ones go."""
        first = sorted(self.items, key=self.items.__getitem__)[:count]
        for item in first:
            del self.items[item]
        return first


class QueueMachine(RuleBasedStateMachine):
    """Compares the queue with a model: at most one wish an item, and the set of items being worked on."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = ManualClock()
        self.queue: WorkQueue[str] = WorkQueue(clock=self.clock, backoff=Backoff(base=1.0, cap=8.0))
        self.wishes: dict[str, Wish] = {}
        self.order = 0
        self.working: dict[str, int] = {}  # with their priorities
        self.turns = 0
        self.failures: dict[str, int] = {}
        self.holding = Holding()
        self.getters: list[asyncio.Task[str | None]] = []
        self.batch = False  # whether several items may have been handed out in one step

    def teardown(self) -> None:
        """Shut down: every waiting worker is told, and nothing is handed out any more."""

        async def end() -> None:
            self.queue.shut_down()
            self.queue.add("a")
            assert await asyncio.gather(*self.getters) == [None] * len(self.getters)
            assert await self.queue.get() is None
            for item in self.working:
                self.queue.done(item)
            await self.queue.drained()

        self.loop.run_until_complete(end())
        self.loop.close()

    def act(self, action: Callable[[], Any]) -> Any:
        """Do something on the loop and let all that follows from it happen, then take in what was handed out."""

        async def run() -> Any:
            result = action()
            for _ in range(20):
                await asyncio.sleep(0)
            return result

        result = self.loop.run_until_complete(run())
        self.let_one_go()
        self.take_in()
        return result

    def let_one_go(self) -> None:
        """Expect what is the server's next trial, if the time for it has come."""
        held, now = self.holding, self.clock.monotonic()
        if held.items and held.until <= now:
            self.let_go(1)
            held.row += 1
            held.until = now + held.pause()

    def let_go(self, count: int) -> None:
        """Expect the first of those that the server has failed."""
        for item in self.holding.take(count):
            self.wishes[item].due = self.holding.still = self.clock.monotonic()

    def answered(self, item: str) -> None:
        """Note that the server has not failed the item: that lets others go if it had before."""
        held = self.holding
        if item in held.unanswered:
            del held.unanswered[item]
            self.let_go(2)
            held.row, held.until = 0, self.clock.monotonic() + FIRST_HOLD

    def take_in(self) -> None:
        """Check each item that was handed out against the model."""
        now = self.clock.monotonic()
        for getter in [task for task in self.getters if task.done()]:
            self.getters.remove(getter)
            item = getter.result()
            assert item is not None
            assert item not in self.working, "handed out while worked on"
            wish = self.wishes.pop(item)  # a KeyError here: handed out though nobody asked
            assert wish.due <= now, "handed out early"
            rivals = [rival for other, rival in self.wishes.items() if other not in self.working and rival.due <= now]
            self.turns += 1
            most_urgent = all(rival.priority <= wish.priority for rival in rivals)
            first = all(rival.order > wish.order for rival in rivals)
            fair = self.turns % FAIR_TURN == 0
            assert self.batch or (first if fair else most_urgent), "another one's turn"
            self.working[item] = wish.priority

    def wish(self, item: str, due: float, priority: int) -> None:
        """Note what was asked for: the sooner and the more urgent count."""
        self.order += 1
        old, order = self.wishes.get(item), self.order
        if old is not None:
            if old.due <= self.clock.monotonic() or (old.due <= due and old.priority >= priority):
                order = old.order
            if due < old.due:
                self.holding.items.pop(item, None)
            due, priority = min(due, old.due), max(priority, old.priority)
        self.wishes[item] = Wish(due, priority, order)

    @rule(item=ITEMS, delay=DELAYS, priority=PRIORITIES)
    def add(self, item: str, delay: float, priority: int) -> None:
        """Somebody asks for an item."""
        self.wish(item, self.clock.monotonic() + delay, priority)
        self.act(lambda: self.queue.add(item, priority=priority, after=delay))

    @rule()
    def ask(self) -> None:
        """Have a worker ask for work."""
        self.act(lambda: self.getters.append(asyncio.ensure_future(self.queue.get())))

    @precondition(lambda self: self.getters)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        """Cancel a waiting worker: what it was woken for must reach another one."""
        getter = data.draw(st.sampled_from(self.getters))
        self.getters.remove(getter)

        async def cancel() -> None:
            getter.cancel()
            await asyncio.gather(getter, return_exceptions=True)

        self.loop.run_until_complete(cancel())
        self.act(lambda: None)

    @precondition(lambda self: self.getters)
    @rule(item=ITEMS)
    def give_up_when_woken(self, item: str) -> None:
        """Cancel the worker that an addition has just woken, before it runs: another one must take over."""
        getter = self.getters.pop(0)
        self.wish(item, self.clock.monotonic(), 0)
        self.act(lambda: (self.queue.add(item), getter.cancel()))
        assert getter.cancelled()

    @precondition(lambda self: self.working)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """Have a worker be done with an item."""
        item = data.draw(st.sampled_from(sorted(self.working)))
        del self.working[item]
        self.failures.pop(item, None)
        self.answered(item)
        self.act(lambda: (self.queue.forget(item), self.queue.done(item)))

    @precondition(lambda self: self.working)
    @rule(data=st.data(), asked=st.sampled_from([0.0, 0.0, 3.0, 50.0]))
    def hold(self, data: st.DataObject, asked: float) -> None:
        """Have the server fail an item: it waits for its turn, unless somebody has asked for it meanwhile."""
        item = data.draw(st.sampled_from(sorted(self.working)))
        priority = self.working.pop(item)
        held, now = self.holding, self.clock.monotonic()
        count = held.unanswered.get(item, 0)
        held.unanswered[item] = count + 1
        if item not in self.wishes:
            if not held.items:
                held.until, held.still = now + held.pause(), now
            held.until = max(held.until, min(now + asked, held.still + LONGEST_ASKED))
            self.wish(item, math.inf, priority)
            held.items[item] = count, self.order
        self.act(lambda: (self.queue.hold(item, asked=asked), self.queue.done(item)))

    @precondition(lambda self: self.working)
    @rule(data=st.data(), answered=st.booleans())
    def fail(self, data: st.DataObject, answered: bool) -> None:
        """Have a worker fail on an item: it comes again as urgent after its backoff, which doubles up to the cap."""
        item = data.draw(st.sampled_from(sorted(self.working)))
        priority = self.working.pop(item)
        count = self.failures.get(item, 0)
        self.failures[item] = count + 1
        if answered:
            self.answered(item)
        self.wish(item, self.clock.monotonic() + min(2.0**count, 8.0), priority)
        self.act(lambda: (self.queue.retry(item, answered=answered), self.queue.done(item)))
        assert self.queue.failures(item) == count + 1

    @precondition(lambda self: self.working)
    @rule(data=st.data(), delay=DELAYS)
    def come_again(self, data: st.DataObject, delay: float) -> None:
        """Have a worker be done with an item, and look at it again later: it is as urgent as it was."""
        item = data.draw(st.sampled_from(sorted(self.working)))
        self.wish(item, self.clock.monotonic() + delay, self.working.pop(item))
        self.act(lambda: (self.queue.requeue(item, after=delay), self.queue.done(item)))

    @rule(seconds=st.sampled_from([0.25, 0.5, 1.0, 5.0]))
    def pass_time(self, seconds: float) -> None:
        """Time passes; several items may become due at once."""
        self.batch = True
        self.act(lambda: self.clock.advance(seconds))
        self.batch = False

    @invariant()
    def nothing_is_lost(self) -> None:
        """While a worker waits, no item is due that nobody works on."""
        now = self.clock.monotonic()
        due = [item for item, wish in self.wishes.items() if wish.due <= now and item not in self.working]
        assert not (self.getters and due), f"{due} wait although a worker does"

    @invariant()
    def depth_is_what_is_due(self) -> None:
        """Compare the depth that metrics show with the number of items that are due."""
        now = self.clock.monotonic()
        assert sum(self.queue.depth().values()) == sum(wish.due <= now for wish in self.wishes.values())
        assert len(self.queue.in_progress()) == len(self.working)


QueueMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestQueue = QueueMachine.TestCase
