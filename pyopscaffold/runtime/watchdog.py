"""Notices when the operator's event loop is blocked: user code that computes, or waits without ``await``.

Runs on the side thread and sends the loop a ping; if no answer comes in time, it logs what the loop's thread is doing.
While there is work, pings follow each other so closely that no stall of ``threshold`` seconds falls between them; the
first piece of work after a rest wakes the watchdog.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_WAITING = ("selectors.py", "runners.py", "base_events.py", "asyncio/events.py")
"""Where the thread stands while its loop waits or calls into C: then the machine is slow, not the user's code."""

_log = logging.getLogger("pyopscaffold.watchdog")


class Watchdog:
    """Watches one loop. ``threshold`` and the pauses between pings, while ``busy`` and else, are seconds.

    What is shorter than ``threshold - pause`` is never reported, what is longer than ``threshold`` always.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        thread: int,
        busy: Callable[[], bool],
        threshold: float = 0.1,
        pause: float = 0.04,
        idle_pause: float = 2.0,
    ) -> None:
        self._loop = loop
        self._thread = thread
        self._busy = busy
        self._threshold = threshold
        self._pause = pause
        self._idle_pause = idle_pause
        self._asked: float | None = None
        self._alive = 0.0
        self._rest: asyncio.Event | None = None
        self._here: asyncio.AbstractEventLoop | None = None

    def blocked(self) -> float:
        """For how many seconds the loop has owed an answer; of any thread."""
        asked = self._asked
        return 0.0 if asked is None else time.monotonic() - asked

    def begun(self) -> None:
        """Note, on the watched loop, that work begins; costs something only when the watchdog rests."""
        rest, self._rest = self._rest, None
        if rest is not None and self._here is not None:
            self._alive = time.monotonic()
            self._here.call_soon_threadsafe(rest.set)

    async def run(self) -> None:
        """Watch until cancelled or the loop is closed."""
        self._here = here = asyncio.get_running_loop()
        while not self._loop.is_closed():
            answered = asyncio.Event()
            self._asked = time.monotonic()
            self._alive = self._alive or self._asked
            try:
                self._loop.call_soon_threadsafe(here.call_soon_threadsafe, answered.set)
            except RuntimeError:  # closed between the two
                return
            await self._await_answer(answered)
            self._asked, self._alive = None, time.monotonic()
            await self._wait()

    async def _wait(self) -> None:
        """Until the next ping is due: soon while there is work, else when work begins or the loop is to be proved."""
        self._rest = rest = asyncio.Event()  # before asking, so that no beginning is missed
        try:
            if self._busy():
                self._rest = None
                await asyncio.sleep(self._pause)
                return
            async with asyncio.timeout(self._idle_pause):
                await rest.wait()
        except TimeoutError:
            self._alive = time.monotonic()  # nothing is known of the rest: a stall counts from the next ping
        finally:
            self._rest = None

    async def _await_answer(self, answered: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(max(0.0, self._alive + self._threshold - time.monotonic())):
                await answered.wait()
        except TimeoutError:
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the documented way to another thread's stack
            if frame is None or _only_waits(frame):
                await answered.wait()
                return
            stack = "".join(traceback.format_stack(frame)).rstrip()
            _log.warning(
                "the event loop is blocked: await what takes long, or make reconcile a plain def",
                extra={"fields": {"stacktrace": stack}},
            )
            await answered.wait()
            seconds = round(self.blocked(), 3)
            _log.warning("the event loop was blocked for %g s", seconds, extra={"fields": {"seconds": seconds}})


def _only_waits(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith(_WAITING)
