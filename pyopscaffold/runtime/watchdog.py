"""Notices when the operator's event loop is blocked: user code that computes, or waits without ``await``.

Runs on the side thread and sends the loop a ping; if no answer comes in time, it logs what the loop's thread is doing.
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
    """Watches one loop. ``threshold`` and the pauses between pings, while ``busy`` and else, are seconds."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        thread: int,
        busy: Callable[[], bool],
        threshold: float = 0.1,
        pause: float = 0.05,
        idle_pause: float = 0.5,
    ) -> None:
        self._loop = loop
        self._thread = thread
        self._busy = busy
        self._threshold = threshold
        self._pause = pause
        self._idle_pause = idle_pause
        self._asked: float | None = None

    def blocked(self) -> float:
        """For how many seconds the loop has owed an answer; of any thread."""
        asked = self._asked
        return 0.0 if asked is None else time.monotonic() - asked

    async def run(self) -> None:
        """Watch until cancelled or the loop is closed."""
        here = asyncio.get_running_loop()
        while not self._loop.is_closed():
            answered = asyncio.Event()
            self._asked = time.monotonic()
            try:
                self._loop.call_soon_threadsafe(here.call_soon_threadsafe, answered.set)
            except RuntimeError:  # closed between the two
                return
            await self._await_answer(answered)
            self._asked = None
            await asyncio.sleep(self._pause if self._busy() else self._idle_pause)

    async def _await_answer(self, answered: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self._threshold):
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
