"""What the linter says a server refuses, a real server refuses; what it calls good or merely unwise, it takes."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import NotFound
from pyopscaffold.lint.engine import check, lint
from pyopscaffold.lint.evolution import Evolution
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.fixes import fix
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.ruleset import Ruleset
from pyopscaffold.lint.subject import CRD_API_VERSION, CRD_KIND
from tests.cluster.crd_mutants import mutant
from tests.cluster.crd_oracle import ask, differences, manifest_of, places
from tests.cluster.refusals import REFUSALS

if TYPE_CHECKING:
    from pyopscaffold.lint.rule import Rule
    from pyopscaffold.testing import RestClient
    from tests.cluster.refusals.made import Refusal

RULES = builtin()
APISERVER = {rule.id for rule in RULES if rule.profile is Profile.APISERVER}
TAKEN = [
    pytest.param(text, id=f"{rule.id}-{side}-{number}")
    for rule in RULES
    for side, texts in (("good", rule.good), ("bad", () if rule.id in APISERVER | {"ST02"} else rule.bad))
    for number, text in enumerate(
        part for text in texts for part in (text.split("---\n") if rule.subject is Evolution else [text])
    )
    if CRD_KIND in text and CRD_API_VERSION + "\n" in text
]
BAD = [
    pytest.param(rule.id, text, id=f"{rule.id}-{number}")
    for rule in RULES
    if rule.id in APISERVER
    for number, text in enumerate(rule.bad)
    if CRD_KIND in text and CRD_API_VERSION + "\n" in text
]
FIXABLE = [
    pytest.param(rule, text, id=f"{rule.id}-{number}")
    for rule in RULES
    for number, text in enumerate(rule.bad)
    if (found := lint([Source("bad.yaml", text)], Registry((rule,))).findings) and all(it.fix for it in found)
]
OF_THE_NEWEST = {"owner without a uid"}
"""Which older servers refuse too, and name another field for it."""
CLASSES = [pytest.param(refusal, id=refusal.name) for refusal in REFUSALS]
MUTANTS = 50
OF_FILES = {"ST01", "ST03"}
OF_WARNINGS = {"VA08"}


@pytest.mark.parametrize("text", TAKEN)
def test_server_takes(admin: RestClient, text: str) -> None:
    """Good examples are good, and the bad ones of design rules are what only a linter catches."""
    manifest = manifest_of(text)
    answer = ask(admin, manifest.data)
    assert not answer.refused, answer.complaints
    assert differences(answer, manifest) == []


@pytest.mark.parametrize(("rule", "text"), BAD)
def test_server_refuses(admin: RestClient, rule: str, text: str) -> None:
    """The bad examples of apiserver rules it refuses for the rule's own reason, if it gives one, or warns of."""
    manifest = manifest_of(text)
    answer = ask(admin, manifest.data)
    assert differences(answer, manifest) == []
    if not answer.unreadable and rule not in {place.rule for place in places(manifest, Severity.WARNING)}:
        assert rule in {complaint.rule for complaint in answer.complaints}


@pytest.mark.parametrize("refusal", CLASSES)
def test_each_class_of_refusal_is_found(admin: RestClient, request: pytest.FixtureRequest, refusal: Refusal) -> None:
    """The server refuses the CRD, and we do for the same reason at the same place; both take it once it is repaired."""
    if refusal.name in OF_THE_NEWEST:
        request.getfixturevalue("newest_kubernetes")
    bad, good = manifest_of(refusal.bad), manifest_of(refusal.good)
    answer = ask(admin, bad.data)
    assert answer.refused
    assert answer.unreadable or refusal.rule in {complaint.rule for complaint in answer.complaints}
    assert refusal.rule in {place.rule for place in places(bad)}
    assert differences(answer, bad) == []
    repaired = ask(admin, good.data)
    assert not repaired.refused
    assert differences(repaired, good) == []


@pytest.mark.parametrize("seed", range(4))
def test_random_faults_are_judged_alike(admin: RestClient, seed: int) -> None:
    """CRDs with changes that nobody thought of; benchmarks/lint_oracle.py tries thousands, of real CRDs too."""
    random = Random(seed)  # noqa: S311 - mutants are no secrets
    seeds = [manifest_of(refusal.good).data for refusal in REFUSALS]
    for _ in range(MUTANTS):
        data, said = mutant(random.choice(seeds), random)
        manifest = manifest_of(json.dumps(data))
        assert differences(ask(admin, data), manifest) == [], said


def test_each_rule_has_its_classes() -> None:
    """Each apiserver rule of CRDs is proved by a class, and each class has another name."""
    assert {refusal.rule for refusal in REFUSALS} == APISERVER - OF_FILES - OF_WARNINGS
    assert len({refusal.name for refusal in REFUSALS}) == len(REFUSALS)


@pytest.mark.parametrize("text", [text for rule in RULES if rule.id == "ST03" for text in rule.bad])
def test_server_does_not_know_old_versions(admin: RestClient, text: str) -> None:
    """A CRD of v1beta1 has no place to be sent to."""
    data = manifest_of(text).data
    with pytest.raises(NotFound):
        admin.create(f"/apis/{data['apiVersion']}/customresourcedefinitions", data)


@pytest.mark.parametrize(("rule", "text"), FIXABLE)
def test_server_takes_what_was_fixed(admin: RestClient, rule: Rule[Any], text: str) -> None:
    """Each bad example whose breaches all have fixes is clean of its rule after them, and a server takes it."""
    made = fix(
        Source("bad.yaml", text), lambda source: check(source, Ruleset.of(Registry((rule,)))).findings, unsafe=True
    )
    assert not lint([Source("bad.yaml", made.text)], Registry((rule,))).findings
    answer = ask(admin, manifest_of(made.text).data)
    assert not answer.refused, answer.complaints
