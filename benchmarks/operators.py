"""One operator three times: by controller-runtime, by pyopscaffold, by kopf, side by side on one API server.

``python benchmarks/operators.py`` measures 1,000 objects with a child and a status each: cold start until all are
ready, then a change of every spec until every status follows. ``--objects 10000`` or 50000 for more, ``--idle`` for
what an idle operator costs, ``--latency`` for the time from an event to its reconcile, ``--only go,ours`` for some of
them. How long that takes is in docs/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.operators_bench import CRD, NAMESPACE, WITHIN, Bench  # noqa: E402 - the line above lets Python find it
from benchmarks.operators_kinds import OPERATORS, Operator, Process  # noqa: E402 - as above
from benchmarks.paired import Result  # noqa: E402 - as above
from pyopscaffold.runtime.client.config import load  # noqa: E402 - as above
from pyopscaffold.runtime.client.http import HttpClient  # noqa: E402 - as above
from pyopscaffold.testing import ControlPlane  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

LATENCY_RATE, LATENCY_SECONDS = 100, 10
IDLE_SECONDS = 30


async def quiet(process: Process) -> None:
    """Wait until it has done nothing for half a second."""
    before = -1.0
    while (now := process.cpu) > before + 0.01:
        before = now
        await asyncio.sleep(0.5)


async def load_once(bench: Bench, operator: Operator, count: int) -> dict[str, float]:
    """Cold start with so many objects, then a change of all."""
    async with bench.notes(count) as (names, observer):
        started = time.monotonic()
        with bench.start(operator) as process:
            await observer.all_followed(process)
            cold = time.monotonic() - started
            await quiet(process)
            cold_cpu = process.cpu
            observer.expect(names)
            started = time.monotonic()
            await bench.update(names)
            await observer.all_followed(process)
            warm = time.monotonic() - started
            await quiet(process)
            return {
                "cold start, wall s": cold,
                "cold start, CPU s": cold_cpu,
                "update, wall s": warm,
                "update, CPU s": process.cpu - cold_cpu,
                "RSS peak, MB": process.peak,
                "RSS settled, MB": process.rss,
            }


async def idle_once(bench: Bench, operator: Operator, _objects: int) -> dict[str, float]:
    """With one object, reconciled: what waiting costs, and what it asks of the server."""
    async with bench.notes(1) as (_, observer):
        with bench.start(operator) as process:
            await observer.all_followed(process)
            began = min(observer.started.values())
            await quiet(process)
            asked, wake_ups, cpu = _requests(bench, operator), process.wake_ups, process.cpu
            await asyncio.sleep(IDLE_SECONDS)
            return {
                "start to first reconcile, s": began - process.started,
                "idle RSS, MB": process.rss,
                "idle wake-ups a second": (process.wake_ups - wake_ups) / IDLE_SECONDS,
                "idle CPU, ms a second": (process.cpu - cpu) / IDLE_SECONDS * 1000,
                "requests while idle": _requests(bench, operator) - asked,
            }


async def latency_once(bench: Bench, operator: Operator, count: int) -> dict[str, float]:
    """Change objects at a steady rate; times are from the server's answer to the change."""
    async with bench.notes(count) as (names, observer):
        with bench.start(operator) as process:
            await observer.all_followed(process)
            await quiet(process)
            written: dict[tuple[str, int], float] = {}

            async def change(name: str) -> None:
                generation = await bench.change(name)
                written[name, generation] = time.time()

            changes = LATENCY_RATE * LATENCY_SECONDS
            observer.expect(names[:changes])
            began = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for index in range(changes):
                    await asyncio.sleep(began + index / LATENCY_RATE - time.monotonic())
                    group.create_task(change(names[index % count]))
            await observer.all_followed(process)
            starts = sorted(observer.started[key] - at for key, at in written.items() if key in observer.started)
            ends = sorted(observer.followed[key] - at for key, at in written.items() if key in observer.followed)
            return {
                "event to reconcile, p50 ms": _percentile(starts, 50),
                "event to reconcile, p99 ms": _percentile(starts, 99),
                "event to status seen, p50 ms": _percentile(ends, 50),
                "event to status seen, p99 ms": _percentile(ends, 99),
            }


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return statistics.quantiles(seconds, n=100)[percent - 1] * 1000


def _requests(bench: Bench, operator: Operator) -> int:
    """Count its requests so far, those that a watch is renewed by aside."""
    records = bench.server.audit_log.records()
    return sum(record.user_agent.startswith(operator.agent) and record.verb != "watch" for record in records)


MODES = {"load": load_once, "idle": idle_once, "latency": latency_once}
Found = dict[str, dict[str, list[float]]]


async def compare(mode: str, operators: Sequence[Operator], *, objects: int, rounds: int, kopf_rounds: int) -> Found:
    """Measure each in turn, round by round: measure → operator → what each round gave."""
    found: Found = {}
    for index in range(rounds):
        turn = [o for o in operators if o.name != "kopf" or index < kopf_rounds]
        for operator in turn if index % 2 == 0 else reversed(turn):
            async with running_bench(audit=mode == "idle") as bench:
                await bench.warm_up(min(objects, 1000))
                for what, value in (await MODES[mode](bench, operator, objects)).items():
                    found.setdefault(what, {}).setdefault(operator.name, []).append(value)
    return found


@asynccontextmanager
async def running_bench(*, audit: bool) -> AsyncIterator[Bench]:
    """Give a control plane that nobody has used: what one operator leaves is no burden of the next."""
    with tempfile.TemporaryDirectory() as folder, ControlPlane(audit=audit) as server:
        rest = server.client()
        rest.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/notes.bench.example.com", CRD)
        rest.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        client = HttpClient(load(server.kubeconfig()), user_agent="bench", timeout=WITHIN)
        try:
            await asyncio.sleep(1)  # until the CRD is served
            yield Bench(server, client, Path(folder))
        finally:
            await client.close()


def table(found: Found, operators: Sequence[Operator]) -> str:
    """Give the medians side by side, with the ratio to the first operator."""
    names = [operator.name for operator in operators]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for what, by_operator in found.items():
        first = statistics.median(by_operator[names[0]])
        cells = []
        for name in names:
            value = statistics.median(by_operator[name])
            ratio = f" ({value / first:.2f})" if name != names[0] and first else ""
            cells.append(f"{value:.3g}{ratio}" if value < 1000 else f"{value:.0f}{ratio}")
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join(lines)


RATIOS = {
    "cold start, wall s": 1.1,
    "cold start, CPU s": 1.5,
    "update, wall s": 1.1,
    "update, CPU s": 1.5,
    "RSS peak, MB": 1.4,
    "RSS settled, MB": 1.4,
}
"""What ours may take at most of what controller-runtime's takes."""
LIMITS = {
    "start to first reconcile, s": 0.8,
    "idle RSS, MB": 60,
    "requests while idle": 0,
    "event to reconcile, p99 ms": 25,
}


def measure(objects: int = 1000) -> tuple[Result, ...]:
    """All of this module, ours beside controller-runtime's, and kopf's once."""
    results: list[Result] = []
    for mode, names in (("load", "go,ours,kopf"), ("idle", "go,ours"), ("latency", "go,ours")):
        operators = built(names)
        found = asyncio.run(compare(mode, operators, objects=objects, rounds=3 if mode == "load" else 1, kopf_rounds=1))
        for what, by_operator in found.items():
            medians = {name: statistics.median(values) for name, values in by_operator.items()}
            results.append(row(f"operator: {what}", medians, ratio=RATIOS.get(what), limit=LIMITS.get(what)))
    return tuple(results)


def row(what: str, medians: dict[str, float], *, ratio: float | None = None, limit: float | None = None) -> Result:
    """Give a result of all operators: ours is held to a limit, or a ratio to Go's (infinite: only told)."""
    ours, go = medians[OPERATORS["ours"].name], medians[OPERATORS["go"].name]
    told = ", ".join(f"{name} {value:.3g}" for name, value in medians.items())
    if ratio is None:
        return Result(what, "" if limit is None else f"at most {limit}", told, limit is None or ours <= limit, ())
    bound = f"at most {ratio} of Go" if math.isfinite(ratio) else ""
    return Result(what, bound, f"{ours / go:.2f} ({told})", ours <= ratio * go, ())


def built(names: str) -> list[Operator]:
    """Give the operators of these names, ready to start."""
    operators = [OPERATORS[name] for name in names.split(",")]
    for operator in operators:
        operator.build()
    return operators


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kopf-rounds", type=int, default=1)
    parser.add_argument("--only", default="go,ours,kopf", help="some of go, ours, kopf")
    for mode in ("idle", "latency"):
        parser.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode, default="load")
    options = parser.parse_args()
    operators = built(options.only)
    wanted = {"objects": options.objects, "rounds": options.rounds, "kopf_rounds": options.kopf_rounds}
    print(table(asyncio.run(compare(options.mode, operators, **wanted)), operators))


if __name__ == "__main__":
    main()
