"""10,000 and 50,000 objects with a child each, ours beside controller-runtime's: ``python benchmarks/scale.py``."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.operators import RATIOS, built, compare, row  # noqa: E402 - the line above lets Python find them
from benchmarks.operators_kinds import OPERATORS  # noqa: E402 - as above
from benchmarks.paired import Result  # noqa: E402 - as above

COUNTS = (10_000, 50_000)
LINEAR = 1.1
"""What one object may cost among the most of what it costs among the fewest: growth is at most linear, noise aside."""


def measure(counts: tuple[int, ...] = COUNTS) -> tuple[Result, ...]:
    """One round of each operator a count, printed as they come; a round of 50,000 takes a quarter of an hour."""
    operators = built("go,ours")
    results, single = [], dict[str, list[float]]()
    for count in counts:
        found = asyncio.run(compare("load", operators, objects=count, rounds=1, kopf_rounds=0))
        for what, by_operator in found.items():
            values = {name: value for name, (value,) in by_operator.items()}
            single.setdefault(what, []).append(values[OPERATORS["ours"].name] / count)
            # times are for comparison only
            ratio = RATIOS[what] if what.startswith("RSS") else math.inf
            result = row(f"{count:,} objects: {what}", values, ratio=ratio)
            results.append(result)
            print(f"{result.what}: {result.bound}: {result.measured}", flush=True)
    for what in ("RSS peak, MB", "cold start, CPU s", "update, CPU s"):
        growth = single[what][-1] / single[what][0]
        told = f"{growth:.2f} of the same among {counts[0]:,}"
        results.append(
            Result(f"an object among {counts[-1]:,}: {what}", f"at most {LINEAR}", told, growth <= LINEAR, ())
        )
    return tuple(results)


if __name__ == "__main__":
    for result in measure():
        print(f"{result.what}: {result.bound}: {result.measured}")
