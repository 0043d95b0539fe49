"""How long lint-crd takes over the corpus, over one large file and over one small CRD, and how much memory.

    python benchmarks/lint_corpus.py [FOLDER]

The command is run as a user runs it, three times each; wall time and CPU time are the best of these, memory is the most
that the command or one of its workers had. The profile is strict, all findings are rendered.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pyopscaffold.lint.example import crd

RUNS = 3
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
LARGE = 900_000
LIMITS = {"corpus": 5.7, "large file": 0.5, "small CRD": 0.25}
"""Seconds of wall time on two cores with nothing else to do."""


class Cost(NamedTuple):
    """Of one run: seconds, and MB."""

    wall: float
    cpu: float
    memory: float


def measure(path: Path) -> Cost:
    """Run the command once; as an installed one, it finds its modules compiled."""
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", str(path), "--profile", "strict", "--isolated"]
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, env=environ)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode > 1:
        sys.exit(f"lint-crd failed on {path}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def main() -> None:
    """Measure and print."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    files = [path for path in corpus.rglob("*") if path.suffix in {".yaml", ".yml", ".json"}]
    if not files:
        sys.exit(f"error: there are no CRDs in {corpus}; name a folder of them")
    large = max((path for path in files if path.stat().st_size < LARGE), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "crd.yaml"
        small.write_text(crd("spec: {type: object}"))
        for name, path in {"corpus": corpus, "large file": large, "small CRD": small}.items():
            runs = [measure(path) for _ in range(RUNS)]
            best = Cost(min(run.wall for run in runs), min(run.cpu for run in runs), max(run.memory for run in runs))
            size = sum(file.stat().st_size for file in files) if path == corpus else path.stat().st_size
            print(
                f"{name:13} {size / 1e6:7.3f} MB  wall {best.wall:5.2f} s (limit {LIMITS[name]})  cpu {best.cpu:5.2f} s"
                f"  {best.memory:4.0f} MB (limit 300)"
            )


if __name__ == "__main__":
    main()
