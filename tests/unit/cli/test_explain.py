"""``pyopscaffold explain``, as a user runs it."""

from __future__ import annotations

import json

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.registry import builtin

RULES = builtin()


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_each_rule_is_explained(rule: object, capsys: pytest.CaptureFixture[str]) -> None:
    """The page holds demand, reason, and both sides in YAML, and the options where there are some."""
    (one,) = [found for found in RULES if found is rule]
    assert run(["explain", one.id.lower()]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# {one.id} {one.name}\n")
    for part in (one.what, one.why, one.bad[0].strip("\n"), one.good[0].strip("\n")):
        assert part in page
    assert ("## Options" in page) is (one.options is not None)
    assert run(["explain", one.name, "--output", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["id"], content["bad"]) == (one.id, list(one.bad))


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("VA99", "VA99", "VA"),
        ("strng-constraint", "strng-constraint", "string-constraint"),
        ("VA", "several", "--list-rules"),
    ],
)
def test_what_is_no_rule_is_told(name: str, message: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is none, or that is many, gets the way out."""
    assert run(["explain", name]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert hint in shown
