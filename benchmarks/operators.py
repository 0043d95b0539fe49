"""One operator three times: by controller-runtime, by pyopscaffold, by kopf, side by side on one API server.

``python benchmarks/operators.py`` measures 1,000 objects with a child and a status each: cold start until all are
ready, then a change of every spec until every status follows. ``--objects 10000`` for more, ``--idle`` for what an idle
operator costs, ``--latency`` for the time from an event to its reconcile, ``--only go,ours`` for some of them.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.operators_kinds import OPERATORS, Operator, Process  # noqa: E402 - the line above lets Python find them
from benchmarks.paired import Result, Timing  # noqa: E402 - as above
from pyopscaffold.api import GroupVersionKind  # noqa: E402 - as above
from pyopscaffold.kube.builtin import CONFIG_MAP  # noqa: E402 - as above
from pyopscaffold.runtime.client.config import load  # noqa: E402 - as above
from pyopscaffold.runtime.client.http import HttpClient  # noqa: E402 - as above
from pyopscaffold.testing import ControlPlane  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from pyopscaffold.testing import ApiServer

NOTE = GroupVersionKind("bench.example.com", "v1", "Note")
NAMESPACE = "bench"
TEXT_BYTES = 600
"""With its metadata, a Note is about 1 KB of JSON without managedFields."""
WRITERS = 16
WITHIN = 1200.0
LATENCY_RATE, LATENCY_SECONDS = 100, 10
IDLE_SECONDS = 30

_OBJECT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "notes.bench.example.com"},
    "spec": {
        "group": NOTE.group,
        "scope": "Namespaced",
        "names": {"kind": "Note", "listKind": "NoteList", "plural": "notes", "singular": "note"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _OBJECT, "status": _OBJECT}}},
            }
        ],
    },
}


class _Meta(msgspec.Struct):
    name: str = ""
    generation: int = 0
    resourceVersion: str = ""  # noqa: N815 - JSON's


class _Status(msgspec.Struct, frozen=True):
    observedGeneration: int = 0  # noqa: N815 - JSON's
    started: int = 0


class _Note(msgspec.Struct):
    metadata: _Meta
    status: _Status = _Status()


_decode = msgspec.json.Decoder(_Note).decode


class Observer:
    """Follows the Notes: which statuses have caught up with their specs, and when."""

    def __init__(self) -> None:
        self.behind: set[str] = set()
        self.started: dict[tuple[str, int], float] = {}
        self.followed: dict[tuple[str, int], float] = {}
        self._all = asyncio.Event()

    async def run(self, client: HttpClient) -> None:
        """Watch until cancelled."""
        version = ""
        while True:
            events = client.watch(NOTE, namespace=NAMESPACE, resource_version=version, timeout=WITHIN)
            async with aclosing(events):
                async for event in events:
                    note = _decode(event.object)
                    version = note.metadata.resourceVersion
                    if event.type != "BOOKMARK":
                        self._take(note, gone=event.type == "DELETED")

    def expect(self, names: Sequence[str]) -> None:
        """Count these as behind until their statuses follow."""
        self.behind.update(names)
        self._all.clear()

    async def all_followed(self, process: Process) -> None:
        """Wait until none is behind."""
        deadline = time.monotonic() + WITHIN
        while time.monotonic() < deadline:
            process.check()
            try:
                await asyncio.wait_for(self._all.wait(), 2)
            except TimeoutError:
                continue
            return
        raise TimeoutError(f"{len(self.behind)} objects are not ready after {WITHIN:.0f} s")

    def _take(self, note: _Note, *, gone: bool) -> None:
        name, generation = note.metadata.name, note.metadata.generation
        if not gone and note.status.observedGeneration != generation:
            return
        key = (name, generation)
        self.followed.setdefault(key, time.time())
        self.started.setdefault(key, note.status.started / 1e6)
        self.behind.discard(name)
        if not self.behind:
            self._all.set()


class Bench:
    """An API server with Notes on it."""

    def __init__(self, server: ApiServer, client: HttpClient, folder: Path) -> None:
        self.server = server
        self.client = client
        self._folder = folder
        self._texts = 0

    def start(self, operator: Operator) -> Process:
        """Start an operator for the namespace."""
        log = self._folder / f"{operator.name}.log"
        return Process(operator, kubeconfig=self.server.kubeconfig(), namespace=NAMESPACE, log=log)

    @asynccontextmanager
    async def notes(self, count: int) -> AsyncIterator[tuple[list[str], Observer]]:
        """Give so many fresh Notes; they and their ConfigMaps go afterwards."""
        observer = Observer()
        names = [f"note-{index:05}" for index in range(count)]
        await self._each(names, self._create)
        watching = asyncio.create_task(observer.run(self.client))
        observer.expect(names)
        try:
            yield names, observer
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            rest = self.server.client(timeout=WITHIN)
            for path in ("/apis/bench.example.com/v1/namespaces/bench/notes", "/api/v1/namespaces/bench/configmaps"):
                await asyncio.to_thread(rest.request, "DELETE", path)
            rest.close()

    async def update(self, names: Sequence[str]) -> None:
        """Give each of them another text."""
        await self._each(names, self.change)

    async def change(self, name: str) -> int:
        """Give one of them another text; returns its generation."""
        answer = await self.client.patch(NOTE, name, {"spec": {"text": self._text()}}, namespace=NAMESPACE)
        generation: int = answer["metadata"]["generation"]
        return generation

    async def _create(self, name: str) -> None:
        body = {
            "apiVersion": NOTE.api_version,
            "kind": NOTE.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"text": self._text()},
        }
        await self.client.create(body, field_manager="bench")

    def _text(self) -> str:
        self._texts += 1
        return f"{self._texts:<{TEXT_BYTES}}."

    async def _each(self, names: Sequence[str], act: Callable[[str], Any]) -> None:
        waiting = iter(names)

        async def write() -> None:
            for name in waiting:
                await act(name)

        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(write())


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


async def idle_once(bench: Bench, operator: Operator, _: int) -> dict[str, float]:
    """With one object, reconciled: what waiting costs, and what it asks of the server."""
    async with bench.notes(1) as (names, observer):
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
    with tempfile.TemporaryDirectory() as folder, ControlPlane(audit=mode == "idle") as server:
        rest = server.client()
        rest.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/notes.bench.example.com", CRD)
        rest.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        client = HttpClient(load(server.kubeconfig()), user_agent="bench", timeout=WITHIN)
        try:
            bench = Bench(server, client, Path(folder))
            await asyncio.sleep(1)  # until the CRD is served
            async with bench.notes(min(objects, 1000)):
                pass  # warms the server up
            for index in range(rounds):
                turn = [o for o in operators if o.name != "kopf" or index < kopf_rounds]
                for operator in turn if index % 2 == 0 else reversed(turn):
                    for what, value in (await MODES[mode](bench, operator, objects)).items():
                        found.setdefault(what, {}).setdefault(operator.name, []).append(value)
        finally:
            await client.close()
    return found


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
    operators = [OPERATORS[name] for name in options.only.split(",")]
    for operator in operators:
        operator.build()
    wanted = {"objects": options.objects, "rounds": options.rounds, "kopf_rounds": options.kopf_rounds}
    print(table(asyncio.run(compare(options.mode, operators, **wanted)), operators))


if __name__ == "__main__":
    main()
