"""Sharding with the real times, a Lease of 15 s and a stop of 20 s: ``python benchmarks/sharding.py`` prints it."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.paired import Result, Timing  # noqa: E402 - the line above lets Python find them
from pyopscaffold.testing import ControlPlane  # noqa: E402 - as above
from pyopscaffold.testing.discovery import create_namespace  # noqa: E402 - as above
from tests.cluster.shard_fleet import WITHIN, Replica, ShardFleet  # noqa: E402 - as above
from tests.cluster.widgets import Cluster, install, soon  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Iterator

LEASE, STOP, OBJECTS = 15, 20.0, 300
NAMES = [f"widget-{number}" for number in range(OBJECTS)]


def measure() -> tuple[Result, ...]:
    """Time joining, taking over and rejoining, and count the late writes that changed something."""
    with _fleet() as shards:
        return asyncio.run(_measure(shards))


async def _measure(shards: ShardFleet) -> tuple[Result, ...]:
    first, second = shards.start(), shards.start()
    await soon(lambda: shards.agreed(first, second), WITHIN)
    _write(shards, "one")
    await shards.say("one", *NAMES)
    third = shards.start(LATE="/configmaps/")
    joined = await _agreed(shards, first, second, third)
    its = [name for name in NAMES if shards.owner(name) is third]

    for name in its[:8]:
        shards.cluster.apply(name, text="late")
    await soon(lambda: len(third.lines("armed")) == len(its[:8]), WITHIN)
    stopped = third.signal(signal.SIGSTOP)
    over = await _taken(its, (first, second), stopped)
    await asyncio.sleep(max(0.0, stopped + STOP - time.monotonic()))
    _write(shards, "two")
    third.signal(signal.SIGCONT)
    await soon(lambda: len(third.lines("sent late")) == len(its[:8]), WITHIN)
    accepted = [line for line in third.lines("sent late") if line["status"] < 400]
    back = await _agreed(shards, first, second, third)
    await shards.say("two", *NAMES)

    its = [name for name in NAMES if shards.owner(name) is third]
    lost = await _taken(its, (first, second), third.signal(signal.SIGKILL))
    overlaps = shards.overlaps()
    times = (
        Timing("joined, until all agree", (joined,)),
        Timing(f"stopped for {STOP:g} s, until all of its objects had others", (over,)),
        Timing("woken up, until all agree", (back,)),
        Timing(f"killed, until all of its {len(its)} objects had others", (lost,)),
    )
    late = f"{len(accepted)} of {len(its[:8])} late writes accepted, {len(overlaps)} objects worked on by two at once"
    setting = f"{OBJECTS} objects, 3 replicas, a Lease of {LEASE} s"
    return (
        Result(
            setting,
            "taken over within the lease",
            f"{max(over, lost):.1f} s",
            met=max(over, lost) < LEASE,
            timings=times,
        ),
        Result(setting, "late writes refused", late, met=not accepted and not overlaps, timings=()),
    )


async def _agreed(shards: ShardFleet, *replicas: Replica) -> float:
    """Wait until all divide the objects alike, and tell how long that took."""
    began = time.monotonic()
    await soon(lambda: shards.agreed(*replicas), WITHIN)
    return time.monotonic() - began


async def _taken(names: list[str], others: tuple[Replica, ...], since: float) -> float:
    """Wait until others have begun to work on all of these, and tell when the last of them was begun."""

    def begun() -> dict[str, float]:
        first, second = (replica.begun(since) for replica in others)
        return {**first, **second}

    await soon(lambda: set(names) <= begun().keys(), WITHIN)
    return max(begun()[name] for name in names) - since


def _write(shards: ShardFleet, text: str) -> None:
    for name in NAMES:
        shards.cluster.apply(name, text=text)


@contextmanager
def _fleet() -> Iterator[ShardFleet]:
    with tempfile.TemporaryDirectory() as folder, ControlPlane() as server:
        client = server.client(timeout=60.0)
        install(client)
        shards = ShardFleet(server, Cluster(client, create_namespace(client)), Path(folder), LEASE)
        try:
            yield shards
        finally:
            shards.end()


if __name__ == "__main__":
    for result in measure():
        print(f"{result.what}: {result.bound}: {result.measured}", *result.timings, sep="\n  ")
