"""Edits and faults at random for some seconds; benchmarks/soak.py does it for ten minutes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import soak

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.world import World

pytestmark = pytest.mark.xdist_group("faults")


def test_everything_converges(world: World, tmp_path: Path) -> None:
    """Random edits of 500 objects, and a fault each second: all is as it should be in the end, and memory as before."""
    seed = random.SystemRandom().randrange(10**6)
    plan = soak.Plan(objects=500, seconds=6, edits=50, fault_every=0.8, seed=seed, within=120)
    outcome = soak.run(world.plane, world.proxy, world, plan, tmp_path)
    assert outcome.edits >= 50
    assert sum(outcome.faults.values()) >= 3
    assert outcome.growth < 0.2 * outcome.usual
