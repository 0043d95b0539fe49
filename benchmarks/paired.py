"""Paired timings of whole processes: A B A B …, so that a machine whose speed drifts hits both alike."""

from __future__ import annotations

import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Timing:
    """Wall-clock seconds of each counted run."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The number to quote."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        low, high = min(self.seconds), max(self.seconds)
        return f"{self.name}: median {self.median:.3f} s (min {low:.3f}, max {high:.3f}, n={len(self.seconds)})"


@dataclass(frozen=True)
class Result:
    """One row of RESULTS.md, and the timings that it comes from."""

    what: str
    bound: str
    measured: str
    met: bool
    timings: tuple[Timing, ...]


def paired(*steps: tuple[str, Callable[[], object]], runs: int = 10, warm_up: int = 1) -> tuple[Timing, ...]:
    """Time the steps in turn and give a timing of each, in the given order."""
    seconds: list[list[float]] = [[] for _ in steps]
    for round_ in range(warm_up + runs):
        for (_, step), found in zip(steps, seconds, strict=True):
            started = time.perf_counter()
            step()
            if round_ >= warm_up:
                found.append(time.perf_counter() - started)
    return tuple(Timing(name, tuple(found)) for (name, _), found in zip(steps, seconds, strict=True))


def process(*command: str, **options: object) -> Callable[[], object]:
    """Give a step that runs a command silently and demands success."""
    return lambda: subprocess.run(command, check=True, capture_output=True, **options)  # type: ignore[call-overload]
