"""200 kills of an operator while its databases live: ``python benchmarks/kill.py``, ``--seed`` to try one again."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.paired import Result, Timing  # noqa: E402 - the line above lets Python find them
from pyopscaffold.testing import ControlPlane, StandIn  # noqa: E402 - as above
from tests.e2e import kills  # noqa: E402 - as above
from tests.e2e.mydatabase_cluster import install  # noqa: E402 - as above

KILLS, DATABASES = 200, 12


def measure(*, seed: int | None = None, count: int = KILLS, databases: int = DATABASES) -> tuple[Result, ...]:
    """Kill so often; a difference to a run without kills is an AssertionError that names the seed."""
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    print(f"seed {seed}")
    with tempfile.TemporaryDirectory() as folder, ControlPlane(audit=True) as server, StandIn(server, step=0.1):
        cluster = install(server, Path(folder))
        started = time.monotonic()
        tally = kills.run(cluster, seed=seed, kills=count, databases=databases, told=_tell)
        seconds = time.monotonic() - started
    print()
    what = f"{count} kills -9 over the lives of {databases} databases, leases of {kills.LEASE_SECONDS} s"
    told = f"no difference; {tally.in_work} kills right after a write, {tally.steps} steps of lives, seed {seed}"
    timing = Timing("the whole run", (seconds,))
    return (Result(what, "children, finalizers, statuses as without kills", told, met=True, timings=(timing,)),)


def _tell(progress: str) -> None:
    print(f"\r{progress}", end="", flush=True)


def main() -> None:
    """Read the command line, kill, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--databases", type=int, default=DATABASES)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    for result in measure(seed=options.seed, count=options.kills, databases=options.databases):
        print(f"{result.what}: {result.measured}", *result.timings, sep="\n  ")


if __name__ == "__main__":
    main()
