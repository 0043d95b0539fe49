"""The work queue: what waits to be reconciled.

Properties, as those of client-go's workqueue:

- *Deduplicating*: however often an item is added before it is handed out, it is handed out once.
- *Exclusive*: an item is never handed out while it is being worked on; added meanwhile, it follows after ``done``.
- *Delayed*: an item added with a delay is not handed out early. An item has one pending entry; a sooner addition
  absorbs a later one, since whoever works on the item decides anew when to look again.
- *Patient with the server*: it has one backoff, which all items share that it has failed (``hold``). When that is over
  one of them is tried. Whoever is answered lets two others go, and starts the backoff anew: what an outage of an hour
  has held up is under way in seconds, and during the outage thousands of items ask no more often than one. What
  changes meanwhile waits for nobody. The server's failures are no part of an item's own backoff.
- *Prioritised*: higher priority first, within it first come, first served. An item that comes again after its work
  keeps its priority.
- *Fair*: every tenth turn is that of whoever came first, whatever its priority; so nobody waits for ever.
- *Draining*: after ``shut_down`` nothing more is handed out, and ``drained`` waits for what is being worked on.

All methods belong to the event loop's thread, except ``depth`` and ``in_progress``, which metrics read from elsewhere.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from pyopscaffold.runtime.clock import backoff

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pyopscaffold.runtime.clock import Clock

K = TypeVar("K", bound="Hashable")

INITIAL_PRIORITY = -100
"""Priority of what was there when the process started: changes made now come first."""

FAIR_TURN = 10
FIRST_HOLD, LONGEST_HOLD = 0.1, 10.0
"""Seconds after which another item is tried while the server fails all: at first, and when they no longer double."""
LONGEST_ASKED = 60.0
"""Seconds for which the server can ask us to leave it alone."""
_LET_GO = 2
_REPLACED_MAX = 64


class QueueMetrics(Protocol):
    """What the queue reports; times are in seconds."""

    def added(self) -> None:
        """Note that an item became ready."""

    def waited(self, seconds: float) -> None:
        """Note that an item was handed out so long after it became ready."""

    def worked(self, seconds: float) -> None:
        """Note that an item was done so long after it was handed out."""

    def retried(self) -> None:
        """Note that an item was added with a delay: after a failure, or because that was asked for."""


class Backoff:
    """How long a failed item waits: exponentially by item, and an overall rate above a burst.

    ``base`` and ``cap`` are seconds, ``rate`` retries per second; the defaults are controller-runtime's.
    """

    def __init__(self, *, base: float = 0.005, cap: float = 1000.0, rate: float = 10.0, burst: int = 100) -> None:
        self.base = base
        self.cap = cap
        self._interval = 1.0 / rate
        self._tolerance = burst * self._interval
        self._next_free = -math.inf

    def delay(self, failures: int, now: float) -> float:
        """Seconds to wait after so many earlier failures; takes one token of the overall bucket."""
        own = backoff(self.base, failures, self.cap)
        self._next_free = max(self._next_free, now - self._tolerance) + self._interval
        return max(own, self._next_free - now)


@dataclass(eq=False, slots=True)
class _Entry(Generic[K]):
    item: K
    ready_at: float
    priority: int
    order: int
    queued: bool = field(default=False, init=False)


_Heap: TypeAlias = "list[tuple[float, int, _Entry[K]]]"
"""By a rank, which is the same for all that are ready, and by order."""


class WorkQueue(Generic[K]):
    """See the module's description."""

    def __init__(self, *, clock: Clock, backoff: Backoff | None = None, metrics: QueueMetrics | None = None) -> None:
        self._clock = clock
        self._backoff = backoff or Backoff()
        self._metrics = metrics
        self._order = itertools.count()
        # An item's one entry is in `_pending` until it is handed out. It is also in one of the heaps, unless it is
        # ready but being worked on. Entries that were replaced or handed out stay in the heaps and are skipped there.
        self._pending: dict[K, _Entry[K]] = {}
        self._delayed: _Heap[K] = []
        self._held: _Heap[K] = []  # by how often each has failed, so that thousands that always do hold up no other
        self._held_until = 0.0
        self._holds = 0  # in a row, without an answer
        self._still_since = 0.0  # when one was last let go, or the first was held
        self._unanswered: dict[K, int] = {}  # how often in a row the server has failed each
        self._ready: dict[int, _Heap[K]] = {}  # by priority
        self._turn = itertools.cycle(range(FAIR_TURN - 1, -1, -1))
        self._processing: dict[K, tuple[float, int]] = {}  # since when, and the priority
        self._failures: dict[K, int] = {}
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.Task[None] | None = None
        self._timer_at = 0.0
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    def add(self, item: K, *, priority: int = 0, after: float = 0.0) -> None:
        """Have the item handed out, not before ``after`` seconds from now; ignored after ``shut_down``."""
        if self._closed:
            return
        if self._metrics and after > 0:
            self._metrics.retried()
        now = self._clock.monotonic()
        ready_at, order = now + max(after, 0.0), next(self._order)
        if old := self._pending.get(item):
            if old.ready_at <= ready_at and old.priority >= priority:
                return
            if old.ready_at <= now:
                order = old.order
            ready_at, priority = min(ready_at, old.ready_at), max(priority, old.priority)
        entry = _Entry(item, ready_at, priority, order)
        self._pending[item] = entry
        if ready_at > now:
            self._wait(self._delayed, ready_at, entry)
            self._arm(ready_at)
            return
        if self._metrics and not (old and old.ready_at <= now):
            self._metrics.added()
        self._enqueue(entry)

    def retry(self, item: K, *, longest: bool = False, within: float = math.inf, answered: bool = True) -> float:
        """Add the item after a failure of its own with its backoff, or the longest one; returns the delay in seconds.

        ``within``: more seconds than these it does not wait. ``answered``: the server has not failed it.
        """
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        if answered:
            self._answered(item)
        delay = self._backoff.cap if longest else self._backoff.delay(failures, self._clock.monotonic())
        delay = min(delay, within)
        self.requeue(item, after=delay)
        return delay

    def hold(self, item: K, *, asked: float = 0.0) -> None:
        """Have the item wait after a failure of the server, which may have ``asked`` not to be called for some seconds.

        It is handed out when it is its turn among all that the server has failed.
        """
        failures, now = self._unanswered.get(item, 0), self._clock.monotonic()
        self._unanswered[item] = failures + 1
        if self._closed:
            return
        if self._metrics:
            self._metrics.retried()
        if item in self._pending:
            return
        if not self._drop_replaced(self._held):
            self._held_until, self._still_since = now + self._next_hold(), now
        _, priority = self._processing.get(item, (0.0, 0))
        self._pending[item] = entry = _Entry(item, math.inf, priority, next(self._order))
        self._wait(self._held, failures, entry)
        # or else one that changes all the time and is always asked to wait would hold up the others for ever
        asked_until = min(now + asked, self._still_since + LONGEST_ASKED)
        self._hold_until(max(self._held_until, asked_until))

    def requeue(self, item: K, *, after: float) -> None:
        """Add an item that is being worked on again, as urgent as it was."""
        _, priority = self._processing.get(item, (0.0, 0))
        self.add(item, priority=priority, after=after)

    def forget(self, item: K) -> None:
        """Have the item's next failure count as its first: its last try was none."""
        self._failures.pop(item, None)
        self._answered(item)

    def failures(self, item: K) -> int:
        """Failures of its own in a row so far."""
        return self._failures.get(item, 0)

    async def get(self) -> K | None:
        """Wait for the next item and take it, to be given back by ``done``; None after ``shut_down``."""
        while not self._closed:
            self._promote()
            if (entry := self._pop()) is not None:
                return self._hand_out(entry)
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # the wake-up was meant for whoever waits next
                raise
        return None

    def done(self, item: K) -> None:
        """Give back an item; it follows again at once if it was added meanwhile."""
        started, _ = self._processing.pop(item)
        now = self._clock.monotonic()
        if self._metrics:
            self._metrics.worked(now - started)
        if not self._processing:
            self._idle.set()
        entry = self._pending.get(item)
        if entry is not None and entry.ready_at <= now:
            self._enqueue(entry)

    def shut_down(self) -> None:
        """Hand out nothing more; what waits is dropped, since the next start looks at every object anyway."""
        self._closed = True
        self._pending.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiters:
            self._wake()

    async def drained(self) -> None:
        """Wait until nothing is being worked on."""
        await self._idle.wait()

    def depth(self) -> dict[int, int]:
        """How many items are ready, by priority."""
        now = self._clock.monotonic()
        return Counter(entry.priority for entry in list(self._pending.values()) if entry.ready_at <= now)

    def in_progress(self) -> list[float]:
        """For how many seconds each item has been worked on."""
        now = self._clock.monotonic()
        return [now - started for started, _ in list(self._processing.values())]

    def _answered(self, item: K) -> None:
        """Let others go if the server had failed this one, and did not now."""
        if self._unanswered.pop(item, None) is not None:
            self._let_go(_LET_GO)
            self._holds = 0
            self._hold_until(self._clock.monotonic() + FIRST_HOLD)

    def _let_go(self, count: int) -> None:
        now = self._clock.monotonic()
        for _ in range(count):
            if not self._drop_replaced(self._held):
                return
            entry = heapq.heappop(self._held)[2]
            entry.ready_at = self._still_since = now
            if self._metrics:
                self._metrics.added()
            self._enqueue(entry)

    def _wait(self, heap: _Heap[K], rank: float, entry: _Entry[K]) -> None:
        heapq.heappush(heap, (rank, entry.order, entry))
        if len(heap) > _REPLACED_MAX + 2 * len(self._pending):
            # most were replaced by sooner ones, and would stay until they are due, hours later perhaps
            heap[:] = [waiting for waiting in heap if self._counts(waiting[2])]
            heapq.heapify(heap)

    def _counts(self, entry: _Entry[K]) -> bool:
        """Whether the entry was neither replaced nor handed out."""
        return self._pending.get(entry.item) is entry

    def _drop_replaced(self, heap: _Heap[K]) -> bool:
        """Drop entries from the top that don't count any more; whether there is one left."""
        while heap and not self._counts(heap[0][2]):
            heapq.heappop(heap)
        return bool(heap)

    def _hand_out(self, entry: _Entry[K]) -> K:
        now = self._clock.monotonic()
        del self._pending[entry.item]
        self._processing[entry.item] = now, entry.priority
        self._idle.clear()
        if self._metrics:
            self._metrics.waited(now - entry.ready_at)
        return entry.item

    def _enqueue(self, entry: _Entry[K]) -> None:
        if entry.queued or entry.item in self._processing:
            return
        entry.queued = True
        heapq.heappush(self._ready.setdefault(entry.priority, []), (0.0, entry.order, entry))
        self._wake()

    def _pop(self) -> _Entry[K] | None:
        for priority, heap in list(self._ready.items()):
            if not self._drop_replaced(heap):
                del self._ready[priority]
        if not self._ready:
            return None
        fair = next(self._turn) == 0
        heap = min(self._ready.values()) if fair else self._ready[max(self._ready)]
        return heapq.heappop(heap)[2]

    def _promote(self) -> None:
        now = self._clock.monotonic()
        while self._drop_replaced(self._delayed) and self._delayed[0][0] <= now:
            entry = heapq.heappop(self._delayed)[2]
            if self._metrics:
                self._metrics.added()
            self._enqueue(entry)
        if self._drop_replaced(self._held) and self._held_until <= now:
            self._let_go(1)
            self._holds += 1
            self._hold_until(now + self._next_hold())

    def _next_hold(self) -> float:
        return backoff(FIRST_HOLD, self._holds, LONGEST_HOLD)

    def _hold_until(self, at: float) -> None:
        self._held_until = at
        if self._held:
            self._arm(at)

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _arm(self, ready_at: float) -> None:
        if self._timer is not None:
            if self._timer_at <= ready_at:
                return
            self._timer.cancel()
        self._timer_at = ready_at
        self._timer = asyncio.get_running_loop().create_task(self._tick(ready_at))

    async def _tick(self, ready_at: float) -> None:
        await self._clock.sleep(ready_at - self._clock.monotonic())
        self._timer = None
        self._promote()
        if self._delayed:
            self._arm(self._delayed[0][0])
        if self._held:
            self._arm(self._held_until)
