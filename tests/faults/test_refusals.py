"""A server that refuses, puts off or is slow, between the real API server and an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.runtime.queue import LONGEST_HOLD
from tests.faults.proxy import Ending, anything, watches, writes

if TYPE_CHECKING:
    from tests.faults.http1 import Seen
    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")

_CODES = (400, 401, 403, 404, 410, 429, 500)


def _streamed_lists(seen: Seen) -> bool:
    return "sendInitialEvents" in seen.query


@pytest.mark.parametrize("code", _CODES)
async def test_watches_refused(world: World, code: int) -> None:
    """No code that watches are refused with is the end of them, and none is answered by a storm of requests."""
    async with world.operating() as operator:
        with world.proxy.answering(code, watches()) as refused:
            begun = operator.clock.monotonic()
            world.proxy.end(Ending.CLEAN)
            await asyncio.to_thread(world.change)
            await operator.until(lambda: refused.hits >= 6)  # three of one kind, with two growing pauses between
            assert operator.clock.monotonic() - begun > 0.7, "no pauses between attempts"
        await operator.settled()


@pytest.mark.parametrize("code", [401, 403, 404, 500, 503])
async def test_writes_refused(world: World, code: int) -> None:
    """Writes that are refused for a while are made in the end, whatever the reason was."""
    async with world.operating() as operator:
        with world.proxy.answering(code, writes()) as refused:
            await asyncio.to_thread(world.change)
            await operator.until(lambda: refused.hits >= 12)
        await operator.settled()


async def test_everything_is_500(world: World) -> None:
    """A storm of 500 to everything, watches included, is outlasted."""
    async with world.operating() as operator:
        with world.proxy.answering(500, anything) as refused:
            await asyncio.to_thread(world.change)
            await operator.until(lambda: refused.hits >= 20)
            world.proxy.end(Ending.RESET)
            await asyncio.to_thread(world.change_again)
            await operator.until(lambda: refused.hits >= 30)
        await operator.settled()


async def test_an_outage_costs_little(world: World) -> None:
    """While a server fails every write, 60 objects that wait for it ask no more often than one would."""
    async with world.operating(speed=60.0) as operator:
        names = [f"waiting-{number}" for number in range(60)]
        with world.proxy.answering(503, writes()) as refused:
            for name in names:
                await asyncio.to_thread(world.apply, name, text=world.text())
            await operator.until(lambda: refused.hits >= len(names))
            await operator.until(lambda: operator.manager.idle)
            begun, before = operator.clock.monotonic(), refused.hits
            await operator.until(lambda: operator.clock.monotonic() - begun >= 120)
            asked = refused.hits - before
        await operator.settled()
    tries = 7 + 120 / LONGEST_HOLD  # those of the first seconds, and one for each pause after that
    assert 5 <= asked <= 3 * tries, "a child, a status and an event"


async def test_writes_told_when_to_come_back(world: World) -> None:
    """Of requests answered 429 with Retry-After, none comes again before that time."""
    async with world.operating() as operator:
        with world.proxy.answering(429, writes(), retry_after=5) as refused:
            begun = operator.clock.monotonic()
            await asyncio.to_thread(world.change)
            await operator.until(lambda: refused.hits >= 2)
            first = refused.hits
            await operator.until(lambda: refused.hits > max(first, 9))
            assert operator.clock.monotonic() - begun >= 5
        await operator.settled()


async def test_watches_told_when_to_come_back(world: World) -> None:
    """A watch answered 429 with Retry-After is not asked for again before that time."""
    async with world.operating() as operator:
        with world.proxy.answering(429, watches(), retry_after=8) as refused:
            world.proxy.end(Ending.CLEAN)
            begun = operator.clock.monotonic()
            await asyncio.to_thread(world.change)
            await operator.until(lambda: refused.hits > 2)
            assert operator.clock.monotonic() - begun >= 8
        await operator.settled()


async def test_no_streamed_lists(world: World) -> None:
    """On a server that refuses streamed lists, lists come in pages, at first and after a 410."""
    with world.proxy.answering(400, _streamed_lists) as refused:
        async with world.operating() as operator:
            with world.proxy.holding(watches()):
                world.proxy.end(Ending.EXPIRED)
                await asyncio.to_thread(world.change)
            await operator.settled()
            assert operator.manager.cache.informers[0].relists == 1
    assert refused.hits == 2, "each kind asks once"


async def test_slow(world: World) -> None:
    """A server that takes its time for everything is waited for."""
    async with world.operating() as operator:
        with world.proxy.slow(0.1):
            await asyncio.to_thread(world.change)
            world.proxy.end(Ending.CLEAN)
            await operator.settled()


async def test_slower_than_we_wait(world: World) -> None:
    """Requests that are given up may have been done all the same: nothing is doubled or lost by that."""
    async with world.operating(timeout=0.5) as operator:
        with world.proxy.slow(1.5, writes()) as slowed:
            await asyncio.to_thread(world.change)
            await operator.until(lambda: slowed.hits >= 10)
        await operator.settled()


async def test_very_large_objects(world: World) -> None:
    """Objects of up to 1.2 MB come whole in events and in lists, are changed, and go again."""
    async with world.operating() as operator:
        large = ["x" * 1_200_000, "ä" * 400_000]
        for text in large:
            await asyncio.to_thread(world.apply, "large", text=text)
            await operator.settled()
        for how in (Ending.TORN, Ending.EXPIRED):
            world.proxy.end(how)
            for text in large:
                await asyncio.to_thread(world.apply, "large", text=text)
            await operator.settled()
        await asyncio.to_thread(world.remove, "large")
        await operator.settled()
