"""Time the embedded control plane and the demo, from built binaries."""

from __future__ import annotations

import sys
from pathlib import Path

from paired import paired, process

from pyopscaffold.testing import ControlPlane

ROOT = Path(__file__).resolve().parents[1]


def time_ready(runs: int = 10) -> None:
    """From nothing to ready; the stop is not counted."""
    planes: list[ControlPlane] = []

    def start() -> None:
        planes.append(ControlPlane())
        planes[-1].start()

    def stop() -> None:
        planes.pop().stop()

    for timing in paired(("start to ready (bound: 5 s)", start), ("stop", stop), runs=runs):
        print(timing)


def time_demo(runs: int = 3) -> None:
    """Time the whole of ``make demo``, clean-up included."""
    demo = process(sys.executable, str(ROOT / "examples" / "demo.py"))
    print(*paired(("demo (bound: 45 s)", demo), runs=runs, warm_up=0))


if __name__ == "__main__":
    time_ready()
    time_demo()
