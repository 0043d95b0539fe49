"""What happens to a watch, on the way from the real API server to an operator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.faults.proxy import Ending, watches

if TYPE_CHECKING:
    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")


@pytest.mark.parametrize("how", Ending)
async def test_ends_while_all_changes(world: World, how: Ending) -> None:
    """However the watches end while everything changes, the operator comes to rest where the server is."""
    async with world.operating() as operator:
        assert world.proxy.end(how) == 2
        await asyncio.to_thread(world.change)
        await operator.settled()


@pytest.mark.parametrize("how", Ending)
async def test_ends_before_a_gap(world: World, how: Ending) -> None:
    """What changed while nothing could be watched is made up for, though no event tells of it any more."""
    async with world.operating() as operator:
        with world.proxy.holding(watches()) as gap:
            world.proxy.end(how)
            await asyncio.to_thread(world.change)
            await operator.until(lambda: gap.hits >= 2)
        await operator.settled()
        relists = {informer.relists for informer in operator.manager.cache.informers}
        assert relists == {1 if how is Ending.EXPIRED else 0}
