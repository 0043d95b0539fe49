"""Clocks that are not the machine's: faster ones, and ones that jump."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class FastClock:
    """A :class:`~pyopscaffold.runtime.clock.Clock` that runs ``speed`` times as fast as the machine's.

    ``jump`` sets the time of day, as an administrator or NTP does; ``leap`` takes all of time along, as a machine does
    that was asleep.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._began = time.monotonic()
        self._day = datetime.now(UTC)
        self._leapt = 0.0
        self._sleepers: set[asyncio.Event] = set()

    def now(self) -> datetime:
        """See Clock."""
        return self._day + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """See Clock."""
        return (time.monotonic() - self._began) * self._speed + self._leapt

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        due = self.monotonic() + seconds
        leapt = asyncio.Event()
        self._sleepers.add(leapt)
        try:
            while (left := due - self.monotonic()) > 0:
                leapt.clear()
                try:
                    await asyncio.wait_for(leapt.wait(), left / self._speed)
                except TimeoutError:
                    continue
            await asyncio.sleep(0)
        finally:
            self._sleepers.remove(leapt)

    def jump(self, seconds: float) -> None:
        """Move the time of day, forth or back."""
        self._day += timedelta(seconds=seconds)

    def leap(self, seconds: float) -> None:
        """Have so many seconds gone by; to be called in the event loop of the sleepers."""
        self._leapt += seconds
        for sleeper in self._sleepers:
            sleeper.set()
