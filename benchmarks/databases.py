"""200 MyDatabases on 50 simulated nodes, and half of the nodes lost: ``python benchmarks/databases.py`` prints it."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.paired import Result, Timing  # noqa: E402 - the line above lets Python find them
from pyopscaffold.testing import SimulatedCluster  # noqa: E402 - as above
from tests.e2e.fleet import Fleet  # noqa: E402 - as above
from tests.e2e.mydatabase_cluster import install  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATABASES, REPLICAS, NODES = 200, 3, 50
WORKERS = "8"
UNREACHABLE_AFTER, EVICT_AFTER = 20.0, 5
"""Seconds; a real cluster has 40 and 300."""
WITHIN = 600.0


def measure() -> tuple[Result, ...]:
    """Time how long it takes until all are Ready, and Ready again once the nodes are back."""
    with _fleet() as (cluster, fleet):
        fleet.write()
        made = _timed("databases made, until all are Ready", lambda: fleet.wait(DATABASES, within=WITHIN, every=1))
        lost = sorted(cluster.ready_nodes())[: NODES // 2]
        hit = fleet.disturbed(lost)
        for node in lost:
            cluster.remove_node(node)
        unhurt = DATABASES - len(hit)
        gone = _timed(
            "nodes lost, until all with a pod there say so", lambda: fleet.wait(unhurt, within=WITHIN, every=1)
        )
        for node in lost:
            cluster.return_node(node)
        back = _timed("nodes back, until all are Ready", lambda: fleet.wait(DATABASES, within=WITHIN, every=1))
    setting = f"{DATABASES} databases of {REPLICAS} pods on {NODES} nodes"
    half = f"{len(lost)} nodes gone and back, {len(hit)} databases hit"
    return (
        Result(setting, "all Ready", f"{made.median:.0f} s", met=True, timings=(made,)),
        Result(half, "all Ready again", f"{back.median:.0f} s", met=True, timings=(gone, back)),
    )


@contextmanager
def _fleet() -> Iterator[tuple[SimulatedCluster, Fleet]]:
    simulated = SimulatedCluster(nodes=NODES, unreachable_after=UNREACHABLE_AFTER, evict_after=EVICT_AFTER)
    with tempfile.TemporaryDirectory() as folder, simulated as server:
        operator = install(server, Path(folder)).start_operator("", "--workers", WORKERS)
        try:
            yield simulated, Fleet(server.client(timeout=WITHIN), "default", DATABASES, REPLICAS)
        finally:
            operator.stop()


def _timed(name: str, step: Callable[[], None]) -> Timing:
    started = time.monotonic()
    step()
    return Timing(name, (time.monotonic() - started,))


if __name__ == "__main__":
    for result in measure():
        print(f"{result.what}: {result.measured}", *result.timings, sep="\n  ")
