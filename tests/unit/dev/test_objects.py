from __future__ import annotations

from typing import Any

import pytest

from pyopscaffold.dev.objects import row_of

READY = {"type": "Ready", "status": "True", "reason": "AllPodsReady", "message": "3 of 3"}


def shop(status: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Make an object."""
    return {"metadata": {"name": "shop", "namespace": "default", "generation": 2, **metadata}, "status": status}


def test_ready_stands_first() -> None:
    """All conditions are shown, Ready before the others and with its reason."""
    conditions = [{"type": "Validated", "status": "True"}, READY]
    row = row_of("Shop", shop({"conditions": conditions, "observedGeneration": 2}))
    assert str(row) == "Shop default/shop  Ready=True Validated=True  AllPodsReady: 3 of 3"
    assert row.good


@pytest.mark.parametrize(
    ("item", "state"),
    [
        (shop({}), "no conditions"),
        (shop({"conditions": [READY], "observedGeneration": 1}), "in progress"),
        (shop({"conditions": [READY]}, deletionTimestamp="2026-01-31T12:00:00Z"), "being deleted"),
        ({"metadata": {"name": "shop"}}, "no conditions"),
    ],
)
def test_a_state_that_is_not_up_to_date(item: dict[str, Any], state: str) -> None:
    """An object is not called ready whose conditions are about an older spec, or that is on its way out."""
    row = row_of("Shop", item)
    assert row.state == state
    assert not row.good
