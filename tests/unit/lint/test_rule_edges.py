"""Edges of rules that would only make their documentation longer: what they tell, and what they must not."""

from __future__ import annotations

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.registry import builtin

RULES = builtin()


def _column(path: str, zones: str) -> str:
    columns = f'additionalPrinterColumns: [{{name: A, type: string, jsonPath: "{path}"}}]'
    return crd(f"status: {{type: object, properties: {{zones: {{{zones}}}}}}}", extra=columns)


_OPEN = "type: object, additionalProperties: true"
_EMBEDDED = "type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}"
_NAMED = "type: object, additionalProperties: {type: object, properties: {name: {type: string}}}"
_READ = "x-kubernetes-validations: [{rule: self.__namespace__ != 'x', message: not x}]"
_NAMESPACE = "properties: {namespace: {type: string}}"


CASES = [
    ("UX04", _column(".status.zones.a", _OPEN), []),
    ("UX04", _column(".status.zones[*].nme", _NAMED), ["there is no nme in .status.zones{}"]),
    ("UX04", _column(".status.zones[0].name", _NAMED), ["there is no list in .status.zones"]),
    ("UX04", _column(".status.zones[*]", _EMBEDDED), []),
    ("UX04", _column(".status.zones.metadata.name", _EMBEDDED), []),
    ("UX04", _column(".status.zones.metadata.name", "type: object"), ["there is no metadata in .status.zones"]),
    ("UX04", _column(".status[*].name", "type: string"), []),
    ("UX04", _column(".status.zones[*]", "type: string"), ["there is no list in .status.zones"]),
    ("ST10", crd("spec: {type: object, default: null}"), ["spec is not required"]),
    ("VA17", crd("spec: {type: object, default: null, required: [a]}"), ["spec requires a"]),
    ("DE01", spec("a: {type: number, default: 1.0, description: 1 if unset.}"), []),
    ("DE01", spec("a: {type: number, default: 1.0, description: 1.5 at most.}"), [".spec.a defaults to 1.0"]),
    ("LS01", spec("a: {type: array, x-kubernetes-list-type: null, items: {type: object}}"), [".spec.a is a list"]),
    ("VA02", spec(f"a: {{type: object, {_NAMESPACE}, {_READ}}}"), ["maxLength, and a CEL rule reads it"]),
    ("ST13", spec("a: {type: string, nullable: true, enum: [a, null]}"), []),
    ("ST13", spec("a: {type: string, enum: [a, null]}"), ["null in the enum of .spec.a is no string"]),
]


@pytest.mark.parametrize(("rule", "text", "messages"), CASES, ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)])
def test_rule_tells(rule: str, text: str, messages: list[str]) -> None:
    """The rule has these messages, and no others."""
    found = [finding.message for finding in lint([Source("a.yaml", text)], RULES.choose(select=[rule])).findings]
    assert len(found) == len(messages)
    assert all(part in message for part, message in zip(messages, found, strict=True))
