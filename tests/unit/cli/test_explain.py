"""``pyopscaffold explain``, as a user runs it."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.config import Config
from pyopscaffold.lint.configcheck import checked_options
from pyopscaffold.lint.example import spec, without_frame
from pyopscaffold.lint.registry import builtin

RULES = builtin()


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_each_rule_is_explained(rule: object, capsys: pytest.CaptureFixture[str]) -> None:
    """The page holds demand, reason, and both sides in YAML, and the options where there are some."""
    (one,) = [found for found in RULES if found is rule]
    assert run(["explain", one.id.lower()]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"# {one.id} {one.name}\n")
    for part in (one.what, one.why, without_frame(one.bad[0]).strip("\n"), without_frame(one.good[0]).strip("\n")):
        assert part in page
    assert ("## Options" in page) is (one.options is not None)
    options = "".join(re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    rules = tomllib.loads(options).get("rules", {})
    assert checked_options(Config(rules=rules), RULES) == ({one.id: one.options} if one.options else {})
    assert run(["explain", one.name, "--output", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["id"], content["bad"]) == (one.id, list(one.bad))
    assert content["options"] == rules.get(one.id, {})


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


def test_an_example_shows_what_it_is_about() -> None:
    """The frame that all examples share is left out, in each of several states; what is different stays whole."""
    short = "# in openAPIV3Schema.properties of a CRD\nspec:\n  description: Desired state.\n"
    text = spec("a: {type: string}")
    assert without_frame(text).startswith(short)
    assert without_frame(f"# before\n{text}---\n# now\n{text}").count(short) == 2
    assert without_frame(text.replace("v1", "v2")) == text.replace("v1", "v2")
