"""Clocks that jump under an operator of the real API server; what a lease makes of it is in test_leader.py."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")

_DAY = 86_400.0


@pytest.mark.parametrize("seconds", [_DAY, -_DAY], ids=["forth", "back"])
async def test_time_of_day_jumps(world: World, seconds: float) -> None:
    """A change of the time of day changes nothing: not even a watch is made anew."""
    async with world.operating(speed=1) as operator:
        before = world.proxy.opened()
        operator.clock.jump(seconds)
        await asyncio.to_thread(world.change)
        await operator.settled()
        assert world.proxy.opened() == before


async def test_asleep_for_an_hour(world: World) -> None:
    """After a machine was asleep for an hour, watches whose ends nobody has heard of are replaced."""
    async with world.operating(speed=1) as operator:
        world.proxy.freeze()
        await asyncio.to_thread(world.change)
        operator.clock.leap(3600)
        await operator.settled()
