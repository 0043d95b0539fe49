"""What lint-crd takes over the corpus, one large file and one small CRD: ``python benchmarks/lint_corpus.py [FOLDER]``.

The command is run as a user runs it, with the strict profile and all findings rendered. Over the corpus it takes turns
with the API server's own validation code (../shared/tools/crd-oracle, in Go), which reads the same files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.paired import Result, paired
from pyopscaffold.lint.example import crd

if TYPE_CHECKING:
    from collections.abc import Callable

SHARED = Path(__file__).parents[2] / "shared"
RUNS = 5
LARGE = 900_000
OF_GO, MOST_MEMORY = 1.5, 300.0
SECONDS = {"one large file": 0.5, "one small CRD": 0.25}
"""Wall time, with start-up, on two cores with nothing else to do."""


def measure(folder: Path = SHARED / "corpus") -> tuple[Result, ...]:
    """Give the costs; a folder without CRDs, or no Go to build the oracle with, ends the benchmark."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".yaml", ".yml", ".json"})
    if not files:
        sys.exit(f"error: there are no CRDs in {folder}; name a folder of them")
    large = max((path for path in files if path.stat().st_size < LARGE), key=lambda path: path.stat().st_size)
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        small = Path(temporary) / "crd.yaml"
        small.write_text(crd("spec: {type: object}"))
        ours, go = paired(
            ("lint-crd, corpus", _linted(folder, memory)),
            ("the API server's validation in Go, corpus", _validated(files, Path(temporary))),
            runs=RUNS,
        )
        size = sum(path.stat().st_size for path in files) / 1e6
        ratio = ours.median / go.median
        corpus = Result(
            f"corpus, {size:.1f} MB in {len(files)} files",
            f"at most {OF_GO:g} of the API server's validation",
            f"{ratio:.2f} of it ({ours.median:.2f} s)",
            ratio <= OF_GO,
            (ours, go),
        )
        single = tuple(_single(name, path) for name, path in zip(SECONDS, (large, small), strict=True))
    most = Result(
        "corpus, memory of the largest process",
        f"at most {MOST_MEMORY:g} MB",
        f"{max(memory):.0f} MB",
        max(memory) <= MOST_MEMORY,
        (),
    )
    return (corpus, most, *single)


def _single(name: str, path: Path) -> Result:
    (timing,) = paired((f"lint-crd, {name}", _linted(path, [])), runs=RUNS)
    size = path.stat().st_size / 1e6
    return Result(
        f"{name}, {size:.3f} MB",
        f"at most {SECONDS[name]:g} s",
        f"{timing.median:.2f} s",
        timing.median <= SECONDS[name],
        (timing,),
    )


def _linted(path: Path, memory: list[float]) -> Callable[[], object]:
    """Run the command; as an installed one it finds its modules compiled. Its memory is told in MB."""
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", str(path), "--profile", "strict", "--isolated"]
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def step() -> None:
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(command, stdout=out, env=environ)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode > 1:
            sys.exit(f"error: lint-crd failed on {path}")
        memory.append(usage.ru_maxrss / 1000)

    return step


def _validated(files: list[Path], folder: Path) -> Callable[[], object]:
    """Build the oracle, and give the step that runs it."""
    oracle, environ = folder / "crd-oracle", {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    build = ["go", "build", "-buildvcs=false", "-o", str(oracle), "."]
    subprocess.run(build, cwd=SHARED / "tools" / "crd-oracle", env=environ, check=True)
    asked = "\n".join(map(str, files))
    return lambda: subprocess.run([str(oracle)], input=asked, text=True, check=True, capture_output=True)


def main() -> None:
    """Measure and print."""
    for result in measure(*(Path(argument) for argument in sys.argv[1:2])):
        print(f"{result.what}: {result.bound}: {result.measured}", *result.timings, sep="\n  ")


if __name__ == "__main__":
    main()
