"""Budgets by a clock that is moved by hand."""

from __future__ import annotations

from pyopscaffold.runtime.budget import Budgets
from pyopscaffold.runtime.clock import ManualClock


def test_a_burst_then_one_for_each_period() -> None:
    """A key has its burst, then one more for each period; another key has its own."""
    clock = ManualClock()
    budgets: Budgets[str] = Budgets(burst=3, refill=10.0, clock=clock)
    assert [budgets.take("a") for _ in range(5)] == [True, True, True, False, False]
    assert (budgets.refusals("a"), budgets.refusals("b")) == (2, 0)
    assert budgets.take("b")
    clock.advance(10)
    assert [budgets.take("a") for _ in range(2)] == [True, False]
    assert budgets.refusals("a") == 1


def test_keys_are_forgotten_once_they_have_all_again() -> None:
    """What costs memory is only who has taken something lately."""
    clock = ManualClock()
    budgets: Budgets[int] = Budgets(burst=2, refill=10.0, clock=clock)
    for key in range(100):
        budgets.take(key)
    clock.advance(10)
    budgets.take(0)
    assert len(budgets) == 1
