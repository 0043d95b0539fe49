"""Each rule's own examples, and what its documentation must have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.baseline import Comparison, parse
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.evolution import Evolution, read_before
from pyopscaffold.lint.example import crd
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.ruleset import Ruleset

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.rule import Rule

RULES = builtin()
CLEAN = crd("spec: {type: object}")
GOOD = [pytest.param(rule, text, id=f"{rule.id}-{n}") for rule in RULES for n, text in enumerate(rule.good)]
BAD = [pytest.param(rule, text, id=f"{rule.id}-{n}") for rule in RULES for n, text in enumerate(rule.bad)]


def linted(file: str, text: str, rule: Rule[Any]) -> Report:
    """Lint an example by all rules; that of a change is two states, the earlier one first."""
    if rule.subject is not Evolution:
        return lint([Source(file, text)], RULES)
    before, _, now = text.partition("---\n")
    ruleset = Ruleset.of(RULES, before=read_before([Source("before.yaml", before)]))
    return lint([Source(file, now)], ruleset)


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_good_example_passes(rule: Rule[Any], text: str) -> None:
    """The rule has nothing against its good example, and no server would refuse it."""
    demands = {rule.id, *(other.id for other in RULES.choose(profile=Profile.APISERVER))}
    found = linted("good.yaml", text, rule).findings
    assert [finding.message for finding in found if finding.rule in demands] == []


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_bad_example_is_found(rule: Rule[Any], text: str) -> None:
    """The rule finds its bad example, at a line of it."""
    report = linted("bad.yaml", text, rule)
    if rule.subject is Comparison:  # its examples are baselines
        report = parse(Source("bad.json", text)).compare(lint([Source("x.yaml", CLEAN)], RULES), Ruleset.of(RULES))
    found = [finding for finding in report.findings if finding.rule == rule.id]
    assert found
    for finding in found:
        assert 1 <= finding.line <= text.count("\n") + 1
        assert not finding.message.endswith(".")


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_rule_is_documented(rule: Rule[Any]) -> None:
    """A rule says what it demands and why, in sentences, and shows both sides."""
    assert re.fullmatch(r"[A-Z]{2}[0-9]{2}", rule.id)
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", rule.name)
    assert rule.what.endswith(".")
    assert len(rule.why) > 40
    assert rule.good
    assert rule.bad


def test_each_rule_has_a_file_of_its_name() -> None:
    """rules/<family>/<id>_<name>.py holds the rule of this id and name."""
    for rule in RULES:
        module = rule.check.__module__.rpartition(".")[2]
        assert module == f"{rule.id.lower()}_{rule.name.replace('-', '_')}"


def test_each_rule_was_tried_on_real_crds() -> None:
    """docs/lint-precision.md has its hits and what was read of them, or says that it has none."""
    page = (Path(__file__).parents[3] / "docs" / "lint-precision.md").read_text(encoding="utf-8")
    of_one_crd = (rule for rule in RULES if rule.id == "VE08" or not rule.id.startswith(("LC", "VE")))
    assert [rule.id for rule in of_one_crd if rule.id not in page] == []


def test_precision_is_told_of_the_rules_as_they_are() -> None:
    """Each row of docs/lint-precision.md has the rule's own name and profile."""
    page = (Path(__file__).parents[3] / "docs" / "lint-precision.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([A-Z]{2}[0-9]{2} \S+) \| (apiserver|checklist|strict|opt-in) \|", page, re.MULTILINE))
    profiles = {f"{rule.id} {rule.name}": rule.profile.name.lower().replace("_", "-") for rule in RULES}
    assert len(rows) > 40
    assert rows == {name: profiles.get(name) for name in rows}
