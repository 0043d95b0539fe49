"""Budgets: so much at once for each of many keys, and a little more as time goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pyopscaffold.runtime.clock import Clock

K = TypeVar("K", bound="Hashable")


@dataclass
class _Budget:
    left: float
    at: float
    refusals: int = 0


class Budgets(Generic[K]):
    """Each key may ``take`` ``burst`` times at once, and once more for every ``refill`` seconds."""

    def __init__(self, *, burst: int, refill: float, clock: Clock) -> None:
        self._burst = burst
        self._refill = refill
        self._clock = clock
        self._known: dict[K, _Budget] = {}
        self._swept = clock.monotonic()

    def __len__(self) -> int:
        """Of how many keys something is remembered."""
        return len(self._known)

    def take(self, key: K) -> bool:
        """Whether the key has something left; then it has one less."""
        now = self._clock.monotonic()
        if now - self._swept >= self._refill:
            self._sweep(now)
        budget = self._known.setdefault(key, _Budget(self._burst, now))
        self._fill(budget, now)
        if budget.left < 1:
            budget.refusals += 1
            return False
        budget.left -= 1
        budget.refusals = 0
        return True

    def refusals(self, key: K) -> int:
        """How often the key was refused since it last took something."""
        budget = self._known.get(key)
        return budget.refusals if budget is not None else 0

    def _fill(self, budget: _Budget, now: float) -> None:
        budget.left = min(self._burst, budget.left + (now - budget.at) / self._refill)
        budget.at = now

    def _sweep(self, now: float) -> None:
        """Forget those that have all again."""
        self._swept = now
        for key, budget in list(self._known.items()):
            self._fill(budget, now)
            if budget.left >= self._burst:
                del self._known[key]
