"""That faults leave nothing behind, however many there are."""

from __future__ import annotations

import asyncio
import gc
import logging
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.faults.proxy import Ending, watches, writes
from tests.faults.world import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.world import Operator, World

pytestmark = pytest.mark.xdist_group("faults")

_FILTERS = (
    tracemalloc.Filter(inclusive=True, filename_pattern="*/pyopscaffold/runtime/*"),
    # the buffers of connections, which are counted: an operator keeps now more of them, now fewer
    tracemalloc.Filter(inclusive=False, filename_pattern="*/client/connection.py"),
)
_MODULES = {"pyopscaffold", "asyncio", "_asyncio", "ssl", "_ssl"}
_ROUNDS = 2
_FAULTS = 2 * len(Ending)  # in a round
_BYTES = 2000
"""What a fault may leave, in the mean: sets and dictionaries grow in steps."""


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Have nothing logged: pytest keeps every line."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def traced() -> Iterator[None]:
    """Have each allocation traced to its line."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


async def test_nothing_grows(world: World, unlogged: None, traced: None) -> None:
    """After thirty faults there is no more in memory than after ten."""
    async with world.operating(speed=50) as operator:
        await _rounds(world, operator, 1)
        objects, size = _objects()
        await _rounds(world, operator, _ROUNDS)
        more, more_size = _objects()
        grown = {name: count for name, count in (more - objects).items() if count >= _ROUNDS * _FAULTS // 2}
        assert grown == {}
        assert more_size - size < _BYTES * _ROUNDS * _FAULTS


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
    """Count objects that connections and tasks are made of, by type, and the bytes that the package has allocated."""
    gc.collect()
    types = Counter(type(each) for each in gc.get_objects())
    found = Counter({kind.__qualname__: count for kind, count in types.items() if _matters(kind)})
    ours = tracemalloc.take_snapshot().filter_traces(_FILTERS)
    return found, sum(each.size for each in ours.statistics("filename"))


def _matters(kind: type[object]) -> bool:
    """Whether there must not be more and more of a type; cancelled timers the event loop keeps for a while."""
    return str(kind.__module__).partition(".")[0] in _MODULES and kind is not asyncio.TimerHandle
