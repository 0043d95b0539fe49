"""The faults of tests/faults on one operator twice: by pyopscaffold and by kopf, each in its own process.

``python benchmarks/faults.py`` plays each fault between a fresh operator and a real API server, and prints a table of
what came of it: after how many seconds every object was reconciled to its newest generation again, or that some never
were; and of how many objects that are gone the operator's cache still knew. ``--only ours,kopf`` and ``--faults
silence,reset`` choose; it takes about eight minutes an operator, for some faults are long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.operators_bench import CRD  # noqa: E402 - the line above lets Python find it
from benchmarks.operators_kinds import BUILD, HERE, KOPF_OPERATOR, OURS, Operator, Process  # noqa: E402 - as above
from pyopscaffold.errors import ClientError  # noqa: E402 - as above
from pyopscaffold.testing import ControlPlane  # noqa: E402 - as above
from pyopscaffold.testing.discovery import create_namespace  # noqa: E402 - as above
from pyopscaffold.testing.server import Identity  # noqa: E402 - as above
from pyopscaffold.testing.waiting import eventually  # noqa: E402 - as above
from tests.faults import etcd, orphans  # noqa: E402 - as above
from tests.faults.proxy import Ending, FaultProxy, anything, watches  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from pyopscaffold.testing import RestClient
    from tests.faults.http1 import Seen

PATIENCE = 180.0
"""Seconds after a fault by which whoever recovers has recovered."""
_PROBE_SECONDS = 30.0
_PROBE = "probe"
_OBJECTS = 10


def _kopf(namespace: str, *, tuned: bool) -> list[str]:
    command = [str(BUILD / "kopf" / "bin" / "kopf"), "run", "--quiet", "-n", namespace, str(HERE / "faults_kopf.py")]
    return ["/usr/bin/env", f"FAULTS_TUNED={int(tuned)}", *command]


def _ours(namespace: str) -> list[str]:
    addresses = [f"--{what}-bind-address=127.0.0.1:0" for what in ("metrics", "health-probe")]
    return [sys.executable, str(HERE / "faults_ours.py"), f"--namespace={namespace}", *addresses]


OPERATORS = {
    "ours": replace(OURS, command=_ours),
    "kopf": replace(KOPF_OPERATOR, command=partial(_kopf, tuned=False)),
    "tuned": replace(KOPF_OPERATOR, name="kopf, timeouts set", command=partial(_kopf, tuned=True)),
}


class Scene:
    """A namespace with Notes, an operator behind the proxy, and what may happen to them."""

    def __init__(self, plane: ControlPlane, proxy: FaultProxy, client: RestClient, folder: Path) -> None:
        self.plane = plane
        self.proxy = proxy
        self.client = client
        self.namespace = create_namespace(client)
        self.kubeconfig = folder / f"{self.namespace}.kubeconfig"
        self._token_file = folder / f"{self.namespace}.token"
        self._texts = 0
        self.rotate(plane.server.admin.token)

    def rotate(self, token: str) -> None:
        """Write the token where each operator looks for it: in the kubeconfig itself, and in a file that it names."""
        self._token_file.write_text(token)
        self.proxy.kubeconfig(self.kubeconfig, Identity(user="operator", token=token))
        text = self.kubeconfig.read_text()
        self.kubeconfig.write_text(
            text.replace(f"token: {token}", f"token: {token}\n    tokenFile: {self._token_file}")
        )

    def apply(self, name: str, text: str = "") -> None:
        """Make or change a Note."""
        self._texts += 1
        body = {
            "apiVersion": "bench.example.com/v1",
            "kind": "Note",
            "metadata": {"name": name},
            "spec": {"text": f"{self._texts} {text}"},
        }
        self.client.apply(f"{self._path('notes')}/{name}", body)

    def remove(self, name: str) -> None:
        """Delete a Note."""
        self.client.delete(f"{self._path('notes')}/{name}")

    def change(self) -> None:
        """Change three Notes, make two, delete two, and delete and make anew one."""
        for name in ("note-0", "note-1", "note-2", "new-0", "new-1"):
            self.apply(name)
        for name in ("note-3", "note-4", "note-5"):
            self.remove(name)
        self.apply("note-5")

    def notes(self) -> dict[str, dict[str, Any]]:
        """All Notes, by name."""
        return {note["metadata"]["name"]: note for note in self.client.get(self._path("notes"))["items"]}

    def behind(self) -> list[str]:
        """Names of the Notes that are not reconciled to their newest generation; collects garbage on the way."""
        notes = self.notes()
        children = {found["metadata"]["name"]: found for found in self.client.get(self._path("configmaps"))["items"]}
        orphans.collect(self.client, self._path("configmaps"), children, notes)
        return [name for name, note in notes.items() if not _follows(note, children.get(name))]

    def known(self) -> set[str]:
        """Ask the operator which Notes it knows."""
        child = self.client.get(f"{self._path('configmaps')}/{_PROBE}")
        return set(child["data"]["known"].split())

    def _path(self, plural: str) -> str:
        group = "/api/v1" if plural == "configmaps" else "/apis/bench.example.com/v1"
        return f"{group}/namespaces/{self.namespace}/{plural}"


def _follows(note: dict[str, Any], child: dict[str, Any] | None) -> bool:
    metadata, text = note["metadata"], note["spec"]["text"]
    return (
        note.get("status", {}).get("observedGeneration") == metadata["generation"]
        and child is not None
        and child["data"]["text"] == text[:100]
    )


def _in_gap(scene: Scene, play: Callable[[], object]) -> None:
    with scene.proxy.holding(watches()):
        play()
        scene.change()


def _ended(how: Ending) -> Callable[[Scene], None]:
    return lambda scene: _in_gap(scene, lambda: scene.proxy.end(how))


def _during(fault: Callable[[Scene], AbstractContextManager[object]], seconds: float) -> Callable[[Scene], None]:
    """Have the watches end, and everything change, while a fault lasts."""

    def play(scene: Scene) -> None:
        with fault(scene):
            scene.proxy.end(Ending.CLEAN)
            scene.change()
            time.sleep(seconds)

    return play


def _silence(scene: Scene) -> None:
    scene.proxy.freeze()
    scene.change()


def _large(scene: Scene) -> None:
    scene.apply("large", "x" * 1_200_000)
    scene.proxy.end(Ending.RESET)
    scene.apply("large", "y" * 1_200_000)


def _rotated(scene: Scene) -> None:
    old, new = scene.plane.server.admin.token, scene.plane.server.identity("second").token

    def outdated(seen: Seen) -> bool:
        return seen.token == old

    scene.rotate(new)
    with scene.proxy.answering(401, outdated):
        _in_gap(scene, lambda: scene.proxy.end(Ending.CLEAN))
        time.sleep(20)


def _killed(scene: Scene) -> None:
    scene.plane.stop_api_server(grace=0)
    scene.plane.start_api_server()
    eventually(scene.notes)
    scene.change()


def _compacted(scene: Scene) -> None:
    with scene.proxy.refusing():
        scene.change()
        etcd.compact(scene.plane.server)
        scene.plane.stop_api_server(grace=0)
        scene.plane.start_api_server()
        eventually(scene.notes)


FAULTS: dict[str, tuple[str, Callable[[Scene], None]]] = {
    "clean": ("clean end of the watch, then a gap", _ended(Ending.CLEAN)),
    "goodbye": ("connection closed with the body unfinished, then a gap", _ended(Ending.GOODBYE)),
    "reset": ("connection reset, then a gap", _ended(Ending.RESET)),
    "torn": ("connection reset in the middle of an event", _ended(Ending.TORN)),
    "expired": ("410 in the stream, after a gap", _ended(Ending.EXPIRED)),
    "gone": ("410 to the next watches, for 5 s", _during(lambda s: s.proxy.answering(410, watches()), 5)),
    "silence": ("silent stall of the watch", _silence),
    "busy": (
        "429 with Retry-After 2 s to everything, for 10 s",
        _during(lambda s: s.proxy.answering(429, anything, retry_after=2), 10),
    ),
    "storm": ("500 to everything, for 20 s", _during(lambda s: s.proxy.answering(500, anything), 20)),
    "forbidden": ("403 to everything, for 10 s", _during(lambda s: s.proxy.answering(403, anything), 10)),
    "missing": ("404 to everything, for 10 s", _during(lambda s: s.proxy.answering(404, anything), 10)),
    "token": ("token rotated, the old one refused", _rotated),
    "large": ("object of 1.2 MB, made and changed", _large),
    "slow": ("every request takes 2 s, for 20 s", _during(lambda s: s.proxy.slow(2), 20)),
    "refused": ("connections refused, for 30 s", _during(lambda s: s.proxy.refusing(), 30)),
    "cut": ("network cut for 90 s", _during(lambda s: s.proxy.cut(), 90)),
    "killed": ("API server killed and started again", _killed),
    "compacted": ("the same, and etcd compacted meanwhile", _compacted),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a fault; ``seconds`` is None where it never came to rest."""

    text: str
    seconds: float | None = None


def play(scene: Scene, operator: Operator, fault: Callable[[Scene], None], log: Path) -> Outcome:
    """Have a fresh operator come to rest, and then meet a fault."""
    for index in range(_OBJECTS):
        scene.apply(f"note-{index}")
    scene.apply(_PROBE)
    with Process(operator, kubeconfig=scene.kubeconfig, namespace=scene.namespace, log=log) as process:
        if _rest(scene, process, PATIENCE) is None:
            print(log.read_text(errors="replace")[-3000:], file=sys.stderr)
            return Outcome("did not even start")
        fault(scene)
        seconds = _rest(scene, process, PATIENCE)
        lost = [] if seconds is not None else scene.behind()
        try:
            process.check()
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return Outcome("died")
        if lost:
            print(lost, log.read_text(errors="replace")[-3000:], file=sys.stderr)
        scene.apply(_PROBE)
        if _rest(scene, process, _PROBE_SECONDS, only=_PROBE) is None:
            return Outcome("stuck")
        ghosts = scene.known() - scene.notes().keys()
        text = f"lost {len(lost)} objects" if lost or seconds is None else f"{seconds:.1f} s"
        return Outcome(text + (f", knows {len(ghosts)} that are gone" if ghosts else ""), seconds)


def _rest(scene: Scene, process: Process, within: float, *, only: str = "") -> float | None:
    """Wait until all is reconciled; how long that took, None if it is not so in time or the operator has died."""
    began = time.monotonic()
    while (waited := time.monotonic() - began) < within:
        try:
            process.check()
            behind = scene.behind()
        except ClientError:
            behind = [only]
        except RuntimeError:
            return None
        if not behind or (only and only not in behind):
            return waited
        time.sleep(0.05)
    return None


class _Plane(ControlPlane):
    masters = ("second",)


def compare(operators: Sequence[Operator], faults: Sequence[str]) -> dict[str, list[Outcome]]:
    """Play each fault on each operator: fault → outcomes, in the order of the operators."""
    found: dict[str, list[Outcome]] = {}
    plane = _Plane()
    with tempfile.TemporaryDirectory() as folder, plane as server, FaultProxy(server) as proxy:
        client = server.client(timeout=60)
        client.apply("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/notes.bench.example.com", CRD)
        eventually(lambda: client.get("/apis/bench.example.com/v1/notes"))
        for fault in faults:
            for operator in operators:
                scene = Scene(plane, proxy, client, Path(folder))
                outcome = play(scene, operator, FAULTS[fault][1], Path(folder, f"{scene.namespace}.log"))
                found.setdefault(fault, []).append(outcome)
                print(f"{fault}: {operator.name}: {outcome.text}", file=sys.stderr)
        client.close()
    return found


def table(found: dict[str, list[Outcome]], operators: Sequence[Operator]) -> str:
    """Give a Markdown table."""
    lines = [f"| fault | {' | '.join(each.name for each in operators)} |", f"|---|{'---|' * len(operators)}"]
    for fault, outcomes in found.items():
        lines.append(f"| {FAULTS[fault][0]} | {' | '.join(outcome.text for outcome in outcomes)} |")
    return "\n".join(lines)


def main() -> None:
    """Read the command line, play, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="ours,kopf,tuned", help="some of ours, kopf, tuned")
    parser.add_argument("--faults", default=",".join(FAULTS), help=f"some of {', '.join(FAULTS)}")
    options = parser.parse_args()
    operators = [OPERATORS[name] for name in options.only.split(",")]
    for operator in operators:
        operator.build()
    print(table(compare(operators, options.faults.split(",")), operators))


if __name__ == "__main__":
    main()
