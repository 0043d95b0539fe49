"""Times of the embedded control plane, the simulated cluster and the demo, from built binaries; and what they leave."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.paired import Result, Timing, paired, process
from pyopscaffold.testing import ControlPlane, SimulatedCluster, eventually

ROOT = Path(__file__).resolve().parents[1]
DEMO = ROOT / "examples" / "demo.py"
DATABASE = "/apis/apps/v1/namespaces/default/statefulsets/db"
STATEFUL_SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "db"},
    "spec": {
        "serviceName": "db",
        "replicas": 1,
        "selector": {"matchLabels": {"app": "db"}},
        "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "main", "image": "postgres:17"}]},
        },
    },
}
INTERRUPTIONS = 20


def measure_ready() -> Result:
    """Time from nothing to an API server that is ready; the stop is not counted."""
    planes: list[ControlPlane] = []

    def start() -> None:
        planes.append(ControlPlane())
        planes[-1].start()

    def stop() -> None:
        planes.pop().stop()

    timings = paired(("start of etcd and kube-apiserver until /readyz", start), ("stop", stop))
    ready = timings[0].median
    return Result("API server ready", "at most 5 s", f"{ready:.1f} s", ready <= 5, timings)


def measure_cluster() -> Result:
    """Time from nothing to a StatefulSet whose pod is ready; the stop is not counted."""
    clusters: list[SimulatedCluster] = []

    def start() -> None:
        clusters.append(SimulatedCluster())
        client = clusters[-1].start().client()
        client.apply(DATABASE, STATEFUL_SET)
        eventually(lambda: client.get(DATABASE)["status"].get("readyReplicas") == 1, within=60)

    def stop() -> None:
        clusters.pop().stop()

    timings = paired(("start of a simulated cluster until a StatefulSet of 1 is ready", start), ("stop of it", stop))
    ready = timings[0].median
    return Result("simulated cluster ready", "at most 12 s", f"{ready:.1f} s", ready <= 12, timings)


def measure_demo() -> Result:
    """Time the whole demo, clean-up included."""
    (timing,) = paired(("make demo", process(sys.executable, str(DEMO))), runs=3, warm_up=0)
    return Result("demo", "at most 45 s", f"{timing.median:.0f} s", timing.median <= 45, (timing,))


def measure_interruptions(demo: Timing) -> Result:
    """Stop the demo by Ctrl-C at random moments, and count how often a process or a file of it is left."""
    moments = [random.uniform(0.3, demo.median) for _ in range(INTERRUPTIONS)]  # noqa: S311 - nothing secret
    spoilt = sum(not _leaves_nothing(moment) for moment in moments)
    what = f"demo stopped at {INTERRUPTIONS} random moments"
    return Result(what, "nothing left", f"{spoilt} left something", spoilt == 0, ())


def _leaves_nothing(after: float) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(DEMO)]
        demo = subprocess.Popen(
            command, env={**os.environ, "TMPDIR": folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            demo.wait(after)
        except subprocess.TimeoutExpired:
            demo.send_signal(signal.SIGINT)
        demo.wait()

        def gone() -> bool:
            command = ["/bin/ps", "-eww", "-o", "args"]
            listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            return folder not in listed and not list(Path(folder).iterdir())

        try:
            return eventually(gone, within=15)
        except AssertionError:
            return False


def measure() -> tuple[Result, ...]:
    """All of this module."""
    demo = measure_demo()
    return measure_ready(), measure_cluster(), demo, measure_interruptions(demo.timings[0])
