"""Measure everything and write RESULTS.md: ``make bench``."""

from __future__ import annotations

import datetime as dt
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import (  # noqa: E402 - the line above lets Python find them
    cli,
    codec,
    control_plane,
    databases,
    dev,
    kubernetes_types,
    many_apis,
    operators,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.paired import Result

HEADER = """# Results

Written by `make bench`; wall-clock times of whole processes (of the codec: of calls), paired runs, medians quoted.
Measured on {date}: {cores} cores, {system} {machine}, Python {python}.

| what | bound | measured | |
|---|---|---|---|
"""


def report(results: Iterable[Result]) -> str:
    """Give the whole of RESULTS.md."""
    found = tuple(results)
    text = HEADER.format(
        date=dt.datetime.now(tz=dt.UTC).date(),
        cores=os.cpu_count(),
        system=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
    )
    for result in found:
        text += f"| {result.what} | {result.bound} | {result.measured} | {'met' if result.met else 'MISSED'} |\n"
    text += "\nThe runs behind it:\n\n"
    return text + "".join(f"- {timing}\n" for result in found for timing in result.timings)


if __name__ == "__main__":
    modules = (cli, many_apis, codec, kubernetes_types, control_plane, databases, dev, operators)
    written = report(result for module in modules for result in module.measure())
    (ROOT / "benchmarks" / "RESULTS.md").write_text(written)
    print(written)
