"""The example operator, killed at random moments of its databases' lives; benchmarks/kill.py does it longer."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.e2e import kills

if TYPE_CHECKING:
    from tests.e2e.mydatabase_cluster import Cluster

pytestmark = pytest.mark.xdist_group("e2e-kills")


@pytest.mark.timeout(400)
def test_kills_leave_no_trace(cluster: Cluster) -> None:
    """After twenty kills at random moments all is as it would be without: children, finalizers, statuses."""
    seed = random.SystemRandom().randrange(10**6)
    tally = kills.run(cluster, seed=seed, kills=20, databases=8, told=lambda _: None)
    assert tally.kills == 20
    assert tally.in_work >= 5
    assert tally.steps >= 16
