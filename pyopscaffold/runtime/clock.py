"""Time, as a value that is passed in: production takes the system's, tests move theirs by hand."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Clock(Protocol):
    """What the runtime may ask about time."""

    def now(self) -> datetime:
        """Wall-clock time, aware, in UTC: for timestamps that are written."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump back: for timeouts and delays."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds of ``monotonic()``."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """See Clock."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        await asyncio.sleep(seconds)


def backoff(first: float, failures: int, longest: float) -> float:
    """Return the seconds to pause after so many earlier failures: they double, up to the longest pause."""
    return min(first * 2.0 ** min(failures, 60), longest)


class WakefulClock(SystemClock):
    """A clock whose ``monotonic()`` also counts the time in which the machine slept or was suspended.

    That is Linux's CLOCK_BOOTTIME, and macOS's CLOCK_MONOTONIC, which ``time.monotonic()`` does not read there. (A
    process that is stopped, as by SIGSTOP, stops neither.)
    """

    def __init__(self) -> None:
        self._id: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic() if self._id is None else time.clock_gettime(self._id)


class ManualClock:
    """A clock for tests: it stands still until ``advance`` is called."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """See Clock."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """See Clock."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wake = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), wake))
        await wake

    def sleepers(self) -> list[float]:
        """When the present sleepers are due, in seconds from now, soonest first."""
        return sorted(due - self._elapsed for due, _, wake in self._sleepers if not wake.done())

    def advance(self, seconds: float) -> None:
        """Move time on and wake whoever is due; they run when the caller next awaits."""
        self._elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, wake = heapq.heappop(self._sleepers)
            if not wake.done():
                wake.set_result(None)


@asynccontextmanager
async def limit(clock: Clock, seconds: float) -> AsyncIterator[None]:
    """Have the body end in a TimeoutError after so many seconds of ``clock``: asyncio.timeout knows the loop's only."""

    async def expire(scope: asyncio.Timeout) -> None:
        await clock.sleep(seconds)
        scope.reschedule(asyncio.get_running_loop().time())

    async with asyncio.timeout(None) as scope:
        timer = asyncio.create_task(expire(scope))
        try:
            yield
        finally:
            timer.cancel()
