"""The edits that rules propose: they end the breach, and what they leave is a CRD that a server takes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.subject import Crd, File, Manifest, Version, manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.rule import Edit, Rule

RULES = builtin()
REFUSED = RULES.choose(profile=Profile.APISERVER)


def subjects(text: str) -> Iterator[tuple[Manifest, list[Any]]]:
    """Give each manifest of a text with all that rules may look at in it."""
    for part in scan(Source("bad.yaml", text)):
        for manifest in manifests(part) if isinstance(part, Document) else ():
            crd = Crd(manifest)
            yield manifest, [manifest, crd, *crd.versions] if manifest.is_crd else [manifest]


def edited(data: dict[str, Any], edits: list[Edit]) -> dict[str, Any]:
    """Make the edits in a copy."""
    made = copy.deepcopy(data)
    for path, value, remove in edits:
        node: Any = made
        for step in path[:-1]:
            node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
        if remove:
            del node[path[-1]]
        else:
            node[path[-1]] = value
    return made


def fixable(rule: Rule[Any]) -> Iterator[tuple[dict[str, Any], list[Edit]]]:
    """Give the manifests of a rule's bad examples all of whose breaches have fixes, and the edits."""
    for text in rule.bad:
        for manifest, found in subjects(text):
            hits = [hit for subject in found if type(subject) is rule.subject for hit in rule.hits(subject)]
            if hits and all(hit.fix for hit in hits):
                yield manifest.data, [edit for hit in hits if hit.fix for edit in hit.fix.edits]


FIXABLE = [rule for rule in RULES if rule.subject in {Manifest, Crd, Version} and any(fixable(rule))]


def test_many_rules_have_fixes() -> None:
    """Those that the catalogue marks, save the ones of lists of findings and of files."""
    ids = {rule.id for rule in FIXABLE}
    assert ids >= {
        *("SU01", "SU03", "SU04", "CO01", "CO02", "CO03", "CO04", "CO05", "CO06"),
        *("VA03", "VA06", "VA10", "DE02", "UX02"),
    }
    assert File not in {rule.subject for rule in FIXABLE}


@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.id)
def test_a_fix_ends_the_breach(rule: Rule[Any]) -> None:
    """The rule has nothing more to say, and nothing is there that a server would refuse, but for what was before."""
    for data, edits in fixable(rule):
        text = json.dumps(edited(data, edits))
        assert [finding.message for finding in _found(text, Registry((rule,)))] == []
        before = {finding.message for finding in _found(json.dumps(data), REFUSED)}
        assert [f.message for f in _found(text, REFUSED) if f.message not in before] == []


def _found(text: str, rules: Registry) -> Any:
    return lint([Source("fixed.json", text)], rules).findings
