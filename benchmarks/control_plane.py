"""Times of the embedded control plane and of the demo, from built binaries."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.paired import Result, paired, process
from pyopscaffold.testing import ControlPlane

ROOT = Path(__file__).resolve().parents[1]


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


def measure_demo() -> Result:
    """Time the whole demo, clean-up included."""
    (timing,) = paired(("make demo", process(sys.executable, str(ROOT / "examples" / "demo.py"))), runs=3, warm_up=0)
    return Result("demo", "at most 45 s", f"{timing.median:.0f} s", timing.median <= 45, (timing,))


def measure() -> tuple[Result, ...]:
    """All of this module."""
    return measure_ready(), measure_demo()
