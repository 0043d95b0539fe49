from __future__ import annotations

import json

import pytest

from pyopscaffold.dev.lines import parse

NOON = "2026-01-31T12:00:00.123Z"


def written(**fields: object) -> str:
    """Write a line as the runtime does."""
    return json.dumps({"level": "info", "ts": NOON, "logger": "pyopscaffold", **fields})


def test_a_log_line_is_short() -> None:
    """Time, level, object and message stand first, then fields that say something new."""
    text = written(
        msg="scaled",
        controller="shop",
        namespace="default",
        name="db",
        object="default/db",
        reconcileID="x",
        replicas=3,
    )
    assert str(parse(text)).partition(" ")[2] == "info  default/db scaled  replicas=3"


def test_a_stack_stands_below() -> None:
    """An error's stack follows on lines of its own."""
    line = parse(written(msg="failed", error="ValueError: no", stacktrace="Traceback\nValueError: no"))
    assert str(line).endswith("failed  error=ValueError: no\n  Traceback\n  ValueError: no")


@pytest.mark.parametrize("text", ["printed", "", "17", "[]", '{"level": "info"}', '{"ts": 3, "msg": "", "level": ""}'])
def test_other_output_is_left_alone(text: str) -> None:
    """What a user's code prints is shown as it is, JSON or not."""
    assert str(parse(text)) == text
