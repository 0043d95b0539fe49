"""Measure, and write RESULTS.md: ``make bench`` for everything, ``python benchmarks/run.py cli codec`` for some."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.paired import Result

FILE = ROOT / "benchmarks" / "RESULTS.md"
MODULES = (
    "cli",
    "many_apis",
    "codec",
    "kubernetes_types",
    "control_plane",
    "databases",
    "dev",
    "operators",
    "scale",
    "sharding",
    "kill",
    "soak",
    "lint_corpus",
)

HEAD = """# Results

Written by `make bench`, a section by `python benchmarks/run.py SECTION`: wall-clock times of whole processes (of the
codec: of calls), paired runs, medians quoted. Each section says when and on what it was measured.
"""
ROWS = """
## {name}

{date}: {cores} cores, {system} {machine}, Python {python}.

| what | bound | measured | |
|---|---|---|---|
"""


def section(name: str, results: tuple[Result, ...]) -> str:
    """Give the section of one module's results."""
    text = ROWS.format(
        name=name,
        date=dt.datetime.now(tz=dt.UTC).date(),
        cores=os.cpu_count(),
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
    )
    for result in results:
        text += f"| {result.what} | {result.bound} | {result.measured} | {'met' if result.met else 'MISSED'} |\n"
    return text + "\n" + "".join(f"- {timing}\n" for result in results for timing in result.timings)


def merged(text: str, sections: Mapping[str, str]) -> str:
    """Put new sections in place of the old ones, in the order of :data:`MODULES`; those not measured stay."""
    old = {found[1]: found[0] for found in re.finditer(r"\n## (\w+)\n.*?(?=\n## |\Z)", text, re.DOTALL)}
    return HEAD + "".join({**old, **sections}.get(name, "") for name in MODULES)


def main() -> None:
    """Measure what the command line names, else everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"one of {', '.join(MODULES)}; default: all")
    wanted = parser.parse_args().sections or MODULES
    if unknown := sorted({*wanted} - {*MODULES}):
        parser.error(f"there is no {', '.join(unknown)}; write one of {', '.join(MODULES)}")
    for name in wanted:
        found = section(name, importlib.import_module(f"benchmarks.{name}").measure())
        # Written at once: whoever stops a long run keeps what it has measured.
        FILE.write_text(merged(FILE.read_text(encoding="utf-8"), {name: found}), encoding="utf-8")
        print(found)


if __name__ == "__main__":
    main()
