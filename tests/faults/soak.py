"""An operator under edits and faults for a while: whether all converges, and its memory stays what it was.

The operator is a process of its own behind the fault proxy; who edits, collects garbage and compares talks to the
server past it.
"""

from __future__ import annotations

import logging
import random
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import AlreadyExists, ClientError, ConnectionFailed, NotFound
from pyopscaffold.testing.garbage import GarbageCollector
from tests.faults.proxy import Ending, FaultProxy, anything, watches, writes
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from pyopscaffold.testing import ControlPlane
    from tests.cluster.widgets import Cluster

_log = logging.getLogger(__name__)

WORKERS = 8
_WRITERS = 8
_SETTLED = 0.3
"""The share of the time that memory may take to settle; what it grows by afterwards counts."""
_PATIENCE = 60.0
_SLOWEST = 20
"""Objects a second that are reconciled at the start, at the least."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many objects are edited for how long, how often a second, with a fault every so many seconds; all by chance.

    ``warm_up`` is how often all are changed before that.
    ``hard`` adds faults that take long to recover from: a killed API server, connections that fall silent.
    """

    objects: int
    seconds: float
    edits: float
    fault_every: float
    seed: int
    within: float
    warm_up: int = 0
    hard: bool = False


@dataclass
class Outcome:
    """What happened; ``memory`` has the seconds and megabytes of each sample."""

    edits: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    converged: float = 0.0
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """By how many megabytes memory grew on the whole after it had settled: a straight line through the samples."""
        seconds, megabytes = [at for at, _ in self._judged], [taken for _, taken in self._judged]
        return statistics.linear_regression(seconds, megabytes).slope * (seconds[-1] - seconds[0])

    @property
    def usual(self) -> float:
        """Megabytes that it took in the median."""
        return statistics.median(megabytes for _, megabytes in self._judged)

    @property
    def _judged(self) -> list[tuple[float, float]]:
        return self.memory[int(len(self.memory) * _SETTLED) :]


class Editor:
    """Changes Widgets and ConfigMaps at random, and knows which texts there are to be."""

    def __init__(self, cluster: Cluster, plan: Plan) -> None:
        self._cluster = cluster
        self._dice = random.Random(f"{plan.seed} edits")  # noqa: S311 - for chance, not for secrets
        self.wanted = {f"widget-{number:05}": "" for number in range(plan.objects)}
        self._gone: list[str] = []
        self.edits = 0

    def write_all(self, text: str) -> None:
        """Make all Widgets, or change all of them."""
        self.wanted = dict.fromkeys(self.wanted, text)
        with ThreadPoolExecutor(_WRITERS) as pool:
            for _ in pool.map(lambda item: self._cluster.apply(item[0], text=item[1]), self.wanted.items()):
                pass

    def edit(self) -> None:
        """Do one thing; it is asked for until the server has done it."""
        name = self._dice.choice(list(self.wanted)[:: max(1, len(self.wanted) // 1000)])
        what = self._dice.choices(
            (self._change, self._again, self._remove, self._bring_back, self._tamper, self._take_child),
            weights=(8, 2, 1, 1, 2, 1),
        )[0]
        self.edits += 1
        what(name)

    def _change(self, name: str) -> None:
        self.wanted[name] = f"text {self.edits}"
        insist(lambda: self._cluster.apply(name, text=self.wanted[name]))

    def _again(self, name: str) -> None:
        insist(lambda: self._cluster.client.delete(self._cluster.widget_path(name)))
        self._change(name)

    def _remove(self, name: str) -> None:
        insist(lambda: self._cluster.client.delete(self._cluster.widget_path(name)))
        del self.wanted[name]
        self._gone.append(name)

    def _bring_back(self, _: str) -> None:
        if self._gone:
            self._change(self._gone.pop(0))

    def _tamper(self, name: str) -> None:
        path = self._cluster.config_map_path(name)
        insist(lambda: self._cluster.client.merge(path, {"data": {"text": "by hand"}}))

    def _take_child(self, name: str) -> None:
        insist(lambda: self._cluster.client.delete(self._cluster.config_map_path(name)))


class Faults:
    """Does something bad every now and then."""

    def __init__(self, plane: ControlPlane, proxy: FaultProxy, plan: Plan) -> None:
        self._plane = plane
        self._proxy = proxy
        self._plan = plan
        self._dice = random.Random(f"{plan.seed} faults")  # noqa: S311 - as above
        self.done: dict[str, int] = {}

    def run(self, over: threading.Event) -> None:
        """Go on until it is over; then nothing is broken any more."""
        kinds = [
            self._end,
            self._end,
            self._refuse_requests,
            self._refuse_requests,
            self._slow,
            self._cut,
            self._refuse,
        ]
        if self._plan.hard:
            kinds += [self._freeze, self._kill_server]
        every = self._plan.fault_every
        while not over.wait(self._dice.uniform(0.5 * every, 1.5 * every)):
            kind = self._dice.choice(kinds)
            self.done[kind.__name__.strip("_")] = self.done.get(kind.__name__.strip("_"), 0) + 1
            kind(over)

    def _end(self, _: threading.Event) -> None:
        self._proxy.end(self._dice.choice(list(Ending)))

    def _refuse_requests(self, over: threading.Event) -> None:
        code, retry_after = self._dice.choice(((500, None), (503, None), (429, 1), (401, None), (403, None)))
        which = self._dice.choice((anything, writes(), watches()))
        with self._proxy.answering(code, which, retry_after=retry_after):
            over.wait(self._some())

    def _slow(self, over: threading.Event) -> None:
        with self._proxy.slow(0.2, anything):
            over.wait(self._some())

    def _cut(self, over: threading.Event) -> None:
        with self._proxy.cut():
            over.wait(self._some())

    def _refuse(self, over: threading.Event) -> None:
        with self._proxy.refusing():
            over.wait(self._some())

    def _freeze(self, _: threading.Event) -> None:
        self._proxy.freeze(watches())

    def _kill_server(self, _: threading.Event) -> None:
        self._plane.stop_api_server(grace=0)
        self._plane.start_api_server()

    def _some(self) -> float:
        return self._dice.uniform(0.1, 1.0) * self._plan.fault_every


def run(plane: ControlPlane, proxy: FaultProxy, cluster: Cluster, plan: Plan, folder: Path) -> Outcome:
    """Edit and break for so long, then wait until everything is as it should be.

    Raises:
        AssertionError: something is not, in time; with the seed.

    """
    outcome, editor, faults = Outcome(), Editor(cluster, plan), Faults(plane, proxy, plan)
    editor.write_all("made")
    try:
        with operator(proxy, cluster.namespace, folder) as (process, log):
            # the heap of a process is its usual one when each object has been replaced
            for number in range(plan.warm_up):
                _log.info("warming up: %d of %d", number + 1, plan.warm_up)
                settle(cluster, editor.wanted, within=plan.within + plan.objects / _SLOWEST)
                editor.write_all(f"changed {number}")
            settle(cluster, editor.wanted, within=plan.within + plan.objects / _SLOWEST)
            with collecting(cluster), sampling(process, outcome):
                _log.info("editing and breaking for %g s", plan.seconds)
                with breaking(faults):
                    edit_for(plan, editor)
                _log.info(
                    "%d edits, %d faults; waiting until all is as it should be", editor.edits, sum(faults.done.values())
                )
                ended = time.monotonic()
                settle(cluster, editor.wanted, within=plan.within)
                outcome.converged = time.monotonic() - ended
                come_to_rest(proxy, within=plan.within)
            assert process.poll() is None, log.read_text()
            assert "Traceback" not in log.read_text(), log.read_text()
    except BaseException as error:
        error.add_note(f"seed {plan.seed}: {editor.edits} edits, {faults.done}")
        raise
    outcome.edits, outcome.faults = editor.edits, faults.done
    return outcome


def edit_for(plan: Plan, editor: Editor) -> None:
    """Edit at the plan's pace."""
    started = time.monotonic()
    while (passed := time.monotonic() - started) < plan.seconds:
        if editor.edits < passed * plan.edits:
            editor.edit()
        else:
            time.sleep(0.5 / plan.edits)


def insist(act: Callable[[], object]) -> None:
    """Do it although the server may be gone for a while; what is not there need not be changed."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            act()
        except (NotFound, AlreadyExists):
            return
        except ClientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


@contextmanager
def operator(proxy: FaultProxy, namespace: str, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Run the operator behind the proxy; gives its process and its log."""
    command = [sys.executable, "-m", "tests.cluster.widget_operator", f"--namespace={namespace}"]
    command += [f"--kubeconfig={proxy.kubeconfig(folder / 'kubeconfig')}", f"--workers={WORKERS}"]
    command += ["--log-level=warning", "--metrics-bind-address=0", "--health-probe-bind-address=0"]
    log = folder / "operator.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output)
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


@contextmanager
def at_work(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Have something done in a thread while the block lasts; what it raises is raised here."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, over)
        try:
            yield
        finally:
            over.set()
        working.result()


def breaking(faults: Faults) -> AbstractContextManager[None]:
    """Have faults while the block lasts."""
    return at_work(faults.run)


def collecting(cluster: Cluster) -> AbstractContextManager[None]:
    """Have children collected whose owner is gone, as kube-controller-manager would."""
    collector = GarbageCollector(cluster.client)

    def collect(over: threading.Event) -> None:
        pause = 1.0
        while not over.wait(pause):
            began = time.monotonic()
            with suppress(ClientError):
                collector.collect()
            pause = max(1.0, _pause_after(began))

    return at_work(collect)


def sampling(process: subprocess.Popen[bytes], outcome: Outcome) -> AbstractContextManager[None]:
    """Note each half second how much memory the operator takes."""

    def sample(over: threading.Event) -> None:
        started = time.monotonic()
        while not over.wait(0.5):
            outcome.memory.append((time.monotonic() - started, resident(process.pid)))

    return at_work(sample)


def resident(pid: int) -> float:
    """Return the megabytes of a process that are resident."""
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS:"))


def settle(cluster: Cluster, wanted: dict[str, str], *, within: float) -> None:
    """Wait until each Widget is reconciled, and has its ConfigMap, and there are no others."""
    began = time.monotonic()
    deadline = began + within
    while open_ := differences(cluster, wanted):
        assert time.monotonic() < deadline, f"{len(open_)} not so after {within:g} s: {open_[:10]}"
        time.sleep(max(0.1, _pause_after(began)))
        began = time.monotonic()


def _pause_after(began: float) -> float:
    """Seconds to pause after a look at everything: whoever looks is not to take a core to himself."""
    return 4 * (time.monotonic() - began)


def differences(cluster: Cluster, wanted: dict[str, str]) -> list[str]:
    """Name what is not as it should be."""
    try:
        widgets, children = (
            {item["metadata"]["name"]: item for item in cluster.client.get(path)["items"]}
            for path in (cluster.widget_path("").rstrip("/"), cluster.config_map_path("").rstrip("/"))
        )
    except ConnectionFailed as error:
        return [str(error)]
    found = [f"{name} is there" for name in sorted((children.keys() | widgets.keys()) - wanted.keys())]
    for name, text in wanted.items():
        why = _difference(widgets.get(name), children.get(name), text)
        found += [f"{name}: {why}"] if why else []
    return found


def _difference(widget: dict[str, Any] | None, child: dict[str, Any] | None, text: str) -> str:
    if widget is None or child is None:
        return "there is no Widget" if widget is None else "there is no ConfigMap"
    metadata, status = widget["metadata"], widget.get("status", {})
    if widget["spec"]["text"] != text or child.get("data") != {"text": text}:
        return f"the texts are {widget['spec']['text']}, {child.get('data')}"
    if [owner["uid"] for owner in child["metadata"]["ownerReferences"]] != [metadata["uid"]]:
        return "the ConfigMap is another's"
    ready = {one["type"]: one["status"] for one in status.get("conditions", ())}
    if status.get("observedGeneration") != metadata["generation"] or ready != {"Ready": "True"}:
        return f"the status is {status}"
    return ""


def come_to_rest(proxy: FaultProxy, *, within: float) -> None:
    """Wait until the operator asks for nothing for a whole second."""
    deadline, before = time.monotonic() + within, -1
    while (now := proxy.requests) != before:
        assert time.monotonic() < deadline, f"it still asks after {within:g} s"
        before = now
        time.sleep(1.0)
