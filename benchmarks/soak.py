"""20,000 objects, edited at random for ten minutes while faults are injected: ``python benchmarks/soak.py``.

``--objects``, ``--minutes`` for less, ``--seed`` to try one again.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.paired import Result, Timing  # noqa: E402 - the line above lets Python find them
from pyopscaffold.testing import ControlPlane  # noqa: E402 - as above
from pyopscaffold.testing.discovery import create_namespace  # noqa: E402 - as above
from tests.cluster.widgets import Cluster, install  # noqa: E402 - as above
from tests.faults import soak  # noqa: E402 - as above
from tests.faults.proxy import FaultProxy  # noqa: E402 - as above

OBJECTS, MINUTES, EDITS, FAULT_EVERY = 20_000, 10.0, 50.0, 5.0
WITHIN = 300.0
"""Seconds that everything may take to converge after the last fault."""
FLAT = 0.05
"""The share of the memory by which it may grow over the whole soak."""


def measure(*, objects: int = OBJECTS, minutes: float = MINUTES, seed: int | None = None) -> tuple[Result, ...]:
    """Edit and break; what does not converge is an AssertionError that names the seed."""
    seed = random.SystemRandom().randrange(10**6) if seed is None else seed
    print(f"seed {seed}")
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
    plan = soak.Plan(
        objects=objects,
        seconds=minutes * 60,
        edits=EDITS,
        fault_every=FAULT_EVERY,
        seed=seed,
        within=WITHIN,
        warm_up=3,
        hard=True,
    )
    plane = ControlPlane()
    with tempfile.TemporaryDirectory() as folder, plane as server, FaultProxy(server) as proxy:
        client = server.client(timeout=60)
        install(client)
        cluster = Cluster(client, create_namespace(client))
        outcome = soak.run(plane, proxy, cluster, plan, Path(folder))
        client.close()
    return _results(plan, outcome)


def _results(plan: soak.Plan, outcome: soak.Outcome) -> tuple[Result, ...]:
    faults = ", ".join(f"{name} {count}" for name, count in sorted(outcome.faults.items()))
    setting = f"{plan.objects:,} objects, {outcome.edits:,} edits and {sum(outcome.faults.values())} faults"
    growth, usual = outcome.growth, outcome.usual
    return (
        Result(
            f"{setting} in {plan.seconds / 60:g} min",
            "all converges, then rests",
            f"{outcome.converged:.0f} s after the last ({faults}; seed {plan.seed})",
            met=True,
            timings=(Timing("until all had converged", (outcome.converged,)),),
        ),
        Result(
            "memory of the operator, by a line through a sample each half second",
            f"grows by at most {FLAT:.0%}",
            f"{growth:+.1f} MB ({growth / usual:+.1%}) of {usual:.0f} MB",
            met=growth <= FLAT * usual,
            timings=(),
        ),
    )


def main() -> None:
    """Read the command line, soak, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=OBJECTS)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    for result in measure(objects=options.objects, minutes=options.minutes, seed=options.seed):
        print(f"{result.what}: {result.measured}", *result.timings, sep="\n  ")


if __name__ == "__main__":
    main()
