"""The watchdog over a real loop that is really blocked, if briefly."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.runtime.side_thread import SideThread
from pyopscaffold.runtime.watchdog import Watchdog
from tests.unit.runtime.fake_api_server import until

if TYPE_CHECKING:
    from collections.abc import Iterator

STALL = 0.145


class Work:
    """Says whether there is work, as the queues do."""

    def __init__(self) -> None:
        self.going = False


@contextmanager
def watched(work: Work) -> Iterator[Watchdog]:
    """Watch this test's loop, and ask it nothing while there is no work."""
    watchdog = Watchdog(
        asyncio.get_running_loop(), thread=threading.get_ident(), busy=lambda: work.going, idle_pause=60.0
    )
    with SideThread() as side:
        side.spawn(watchdog.run())
        yield watchdog


async def begin(watchdog: Watchdog, work: Work) -> None:
    """Begin to work after a rest."""
    work.going = False
    await until(lambda: watchdog._rest is not None)
    work.going = True
    watchdog.begun()


async def stacks(watchdog: Watchdog, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Give the stacks that were logged, once the watchdog knows that the loop goes on."""
    await until(lambda: watchdog.blocked() < STALL / 2)
    return [getattr(record, "fields", {}).get("stacktrace", "") for record in caplog.records]


@pytest.mark.parametrize("delay", [None, 0.05, 0.06, 0.07, 0.08])
async def test_a_stall_of_little_over_100_ms(delay: float | None, caplog: pytest.LogCaptureFixture) -> None:
    """Wherever between two pings it begins, or at once after a rest, a stall is logged with what causes it.

    A busy machine may let the watchdog sleep through such a short one: one of a few has to be seen.
    """
    work = Work()
    with watched(work) as watchdog:
        for _ in range(4):
            await begin(watchdog, work)
            if delay is not None:
                await asyncio.sleep(delay)
            time.sleep(STALL)  # noqa: ASYNC251 - the mistake that the watchdog is for
            if found := await stacks(watchdog, caplog):
                break
    assert "time.sleep(STALL)" in found[0]


async def test_short_work_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    """What takes less than 60 ms is nobody's concern."""
    work, longest = Work(), 0.0
    with watched(work) as watchdog:
        await begin(watchdog, work)
        for _ in range(4):
            before = time.monotonic()
            time.sleep(0.04)  # noqa: ASYNC251 - allowed
            longest = max(longest, time.monotonic() - before)
            await asyncio.sleep(0.01)
        found = await stacks(watchdog, caplog)
    assert found == [] or longest > 0.06  # a busy machine may have stopped this test


async def test_a_blocked_loop_is_known_while_it_is_blocked() -> None:
    """For how long the loop owes an answer can be asked from another thread meanwhile, as /healthz does."""
    work, known = Work(), threading.Event()

    def ask() -> None:
        while not known.wait(0.01):
            if watchdog.blocked() > 0.05:
                known.set()

    with watched(work) as watchdog:
        await begin(watchdog, work)
        threading.Thread(target=ask, daemon=True).start()
        assert known.wait(30)  # blocks this loop until the other thread knows it
