"""How long the linter takes over the corpus: reading it, reading and checking it, and printing.

    python benchmarks/lint_corpus.py [FOLDER]

Times are CPU seconds of this process, the best of three runs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pyopscaffold.document.reader import scan
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import text
from pyopscaffold.loader.manifests import load_sources

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
RUNS = 3
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


def best(work: Callable[[], T]) -> tuple[float, T]:
    """Give the shortest time of a few runs, and the result."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


def main() -> None:
    """Measure and print."""
    folder = sys.argv[1] if len(sys.argv) > 1 else str(CORPUS)
    sources = list(load_sources([folder]))
    rules = builtin()
    size = sum(len(source.text) for source in sources)
    reading, _ = best(lambda: [scan(source) for source in sources])
    checking, report = best(lambda: lint(sources, rules))
    rendering, _ = best(lambda: text.render(report))
    print(f"{report.files} files, {size / 1e6:.1f} MB, {report.crds} CRDs, {len(report.findings)} findings")
    print(f"read    {reading:6.2f} s  {size / 1e6 / reading:6.1f} MB/s")
    print(f"lint    {checking:6.2f} s  reading included, {len(rules)} rules")
    print(f"render  {rendering:6.2f} s")


if __name__ == "__main__":
    main()
