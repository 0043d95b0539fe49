"""Each rule's examples in Python: the CRD that is generated of them passes the rule, or breaches it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.generate import crd
from pyopscaffold.generate.manifest import documents
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.loader import source

if TYPE_CHECKING:
    from pyopscaffold.lint.rule import Rule

RULES = builtin()
GOOD = [rule for rule in RULES if rule.good_class]
BAD = [rule for rule in RULES if rule.bad_class]
_IMPORTS = """\
from __future__ import annotations
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Literal
from pyopscaffold.api import *
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the CRD of every example, by the API group that stands for it; all are read by one start of Python."""
    root = tmp_path_factory.mktemp("widgets")
    package = root / "widgets" / "api"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    for side, rules in (("good", GOOD), ("bad", BAD)):
        for rule in rules:
            text = rule.good_class if side == "good" else rule.bad_class
            group = f"{side}.{rule.id.lower()}"
            assert text.count('"example.com"') == 1
            module = _IMPORTS + text.replace('"example.com"', f'"{group}"')
            (package / f"{side}_{rule.id.lower()}.py").write_text(module)
    kinds = crd.kinds_by_versions(source.read(root, "widgets", python=sys.executable))
    return {versions[0].gvk.group: documents(crd.crd_of(versions)) for versions in kinds}


def _messages(rule: Rule[Any], text: str) -> list[str]:
    return [finding.message for finding in lint([Source("widget.yaml", text)], Registry((rule,))).findings]


@pytest.mark.parametrize("rule", GOOD, ids=lambda rule: rule.id)
def test_good_class_passes(rule: Rule[Any], made: dict[str, str]) -> None:
    """The rule has nothing against the CRD of its good class."""
    assert _messages(rule, made[f"good.{rule.id.lower()}"]) == []


@pytest.mark.parametrize("rule", BAD, ids=lambda rule: rule.id)
def test_bad_class_is_found(rule: Rule[Any], made: dict[str, str]) -> None:
    """The rule finds its bad class in the CRD."""
    assert _messages(rule, made[f"bad.{rule.id.lower()}"])
