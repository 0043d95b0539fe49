"""That faults leave nothing behind, however many there are."""

from __future__ import annotations

import asyncio
import gc
import linecache
import logging
import sys
import urllib.parse
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.faults.proxy import Ending, watches, writes
from tests.faults.world import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.world import Operator, World

pytestmark = pytest.mark.xdist_group("faults")

_ROUNDS = 6
_FAULTS = 2 * len(Ending)  # in a round


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Have nothing logged: pytest keeps every line."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


async def test_nothing_grows(world: World, unlogged: None) -> None:
    """After sixty faults there is no more in memory than after some."""
    async with world.operating(speed=50) as operator:
        await _rounds(world, operator, 2)
        objects, blocks = _objects()
        await _rounds(world, operator, _ROUNDS)
        more, more_blocks = _objects()
        grown = {name: count for name, count in (more - objects).items() if count >= _ROUNDS * _FAULTS // 2}
        assert grown == {}
        assert more_blocks - blocks < 20 * _ROUNDS * _FAULTS


async def _rounds(world: World, operator: Operator, count: int) -> None:
    for _ in range(count):
        for how in Ending:
            world.proxy.end(how)
            await _watching(world, operator)
            with world.proxy.answering(500, watches(), times=2), world.proxy.answering(500, writes(), times=1):
                world.proxy.end(Ending.CLEAN)
                await _watching(world, operator)
        await operator.settled()


async def _watching(world: World, operator: Operator) -> None:
    """Change something, and wait until it can be seen."""
    text = world.text()
    await asyncio.to_thread(world.apply, "changed", text=text)
    await operator.until(lambda: operator.held("configmaps")["changed"]["data"] == {"text": digest(text)})
    await operator.until(lambda: len(world.proxy.opened()) == 2)


def _objects() -> tuple[Counter[str], int]:
    """Count what the garbage collector knows by type, and all that is allocated, caches of the library aside."""
    linecache.clearcache()
    urllib.parse.clear_cache()  # type: ignore[attr-defined]  # typeshed lacks it
    gc.collect()
    found = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    return found, sys.getallocatedblocks()
