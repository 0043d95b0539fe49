"""A thousand random declarations against a real API server: ``python benchmarks/oracle.py [COUNT] [SEED]``.

The first disagreement ends the search; it is shown with the smallest program that has it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyopscaffold.testing import ControlPlane
from tests.cluster.oracle import Disagreement, Oracle, run

EVERY = 25


def main(count: int = 1000, seed: int | None = None) -> int:
    """Search, with a line of progress now and then; 1 if something was found."""
    started, tried = time.monotonic(), 0
    with ControlPlane() as server, tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(server.client(), Path(folder), group="oracle.example.com")

        def progress() -> None:
            nonlocal tried
            tried += 1
            if tried % EVERY == 0:
                print(f"{tried}: {_said(oracle)}, {time.monotonic() - started:.0f} s", flush=True)

        try:
            run(oracle, examples=count, seed=seed, progress=progress)
        except Disagreement as found:
            print(f"{type(found).__name__}: {found}", *getattr(found, "__notes__", ()), sep="\n")
            return 1
    print(f"no disagreement: {_said(oracle)}, {time.monotonic() - started:.0f} s")
    return 0


def _said(oracle: Oracle) -> str:
    return f"{oracle.taken} declarations taken, {oracle.refused} refused by the loader, {oracle.objects} objects judged"


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
