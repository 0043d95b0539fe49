"""Edges of rules that would only make their documentation longer: what they tell, and what they must not."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import crd, role, spec, status
from pyopscaffold.lint.registry import builtin

RULES = builtin()
Case: TypeAlias = tuple[str, str, list[str]]
"""A rule, a text, and parts of the findings, each of which is a severity and a message."""


def _fields(rule: str, *cases: tuple[str, str]) -> list[Case]:
    """Give the rule fields of a spec; a text of "" is no finding."""
    return [(rule, spec(fields), [message] if message else []) for fields, message in cases]


def _patterns(problem: str, *patterns: str) -> list[Case]:
    found = [problem] if problem else []
    return [("VA06", spec(f"a: {{type: string, pattern: '{pattern}'}}"), found) for pattern in patterns]


def _two(other: str) -> str:
    """Give a CRD of two versions, the second of which has another schema of a list."""
    new = spec(f"a: {{{other}}}").replace("name: v1", "name: v2").replace("storage: true", "storage: false")
    return spec("a: {type: array, items: {type: string}}") + new[new.index("  - name: v2") :]


def _column(path: str, zones: str) -> str:
    columns = f'additionalPrinterColumns: [{{name: A, type: string, jsonPath: "{path}"}}]'
    return crd(f"status: {{type: object, properties: {{zones: {{{zones}}}}}}}", extra=columns)


_STRING = "{type: string}"
_OPEN = "type: object, additionalProperties: true"
_EMBEDDED = "type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}"
_NAMED = f"type: object, additionalProperties: {{type: object, properties: {{name: {_STRING}}}}}"
_READ = "x-kubernetes-validations: [{rule: self.__namespace__ != 'x', message: not x}]"
_UNREAD = "x-kubernetes-validations: [{rule: self.other != 'x', message: not x}]"
_LOST = """x-kubernetes-validations: [{rule: 'true', message: m, fieldPath: ".a['%s"}]""" % (r"\\" * 200)
_NAMESPACE = "properties: {namespace: {type: string}}"
_COLUMNS: list[Case] = [
    ("UX04", _column(".status.zones.a", _OPEN), []),
    ("UX04", _column(".status.zones[*].nme", _NAMED), ["there is no nme in .status.zones{}"]),
    ("UX04", _column(".status.zones['a.b'].name", _NAMED), []),
    ("UX04", _column(".status.zones.a\\\\.b.name", _NAMED), []),
    ("UX04", _column(".status.zones[0].name", _NAMED), ["there is no list in .status.zones"]),
    ("UX04", _column(".status.zones[*]", _EMBEDDED), []),
    ("UX04", _column(".status.zones.metadata.name", _EMBEDDED), []),
    ("UX04", _column(".status.zones.metadata.name", "type: object"), ["there is no metadata in .status.zones"]),
    ("UX04", _column(".metadata.name", "type: string"), []),
    ("UX04", _column(f".a{'[?(' * 200_000}", "type: string"), []),
    ("CE01", spec(f"a: {{type: object, {_LOST}}}"), ["there is no field 'a'"]),
    ("VA11", spec(f"a: {{type: string, pattern: '[{'sm' * 50_000}]{'[^' * 100_000}'}}"), []),
    ("UX04", _column(".status[*].name", "type: string"), []),
    ("UX04", _column(".status.zones[*]", "type: string"), ["error column A has the path .status.zones[*], but"]),
    ("UX04", _column(".status.zones.items", f"type: array, items: {_STRING}"), ["there is no items in .status.zones"]),
    ("UX04", _column(".status.zones[0:2].x", _NAMED), []),
    ("UX04", _column(".status.zones..x", _NAMED), []),
    ("UX04", _column(".nowhere", "type: string"), ["there is no nowhere in it"]),
    ("UX04", _column(".status.zones", f"type: array, items: {_STRING}"), ["info column A shows .status.zones"]),
]
_OBJECT = "{type: object, properties: {%s}}"
_DEEP = f"c: {_OBJECT % 'd: {type: object, properties: {e: {type: string}}}, f: {type: string}'}"
_IMMUTABLE = "type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: no}]"
_AROUND = "x-kubernetes-validations: [{{rule: {}, message: a}}]}}"
_HOLDS = f"type: object, properties: {{b: {{{_IMMUTABLE}}}}}"
_STATES = "type: string, enum: [A, B, C]"
_PORT = "containerPort: {type: integer}, hostPort: {type: integer}, protocol: {type: string, default: TCP}"
_STATED = f"type: object, properties: {{state: {{{_STATES}}}}}"
_CONDITION = "type: {type: string}, status: {type: string}, lastTransitionTime: {type: string, format: date-time}"
_LIST = "{type: array, items: {type: object, properties: {%s}}}"
_SEEN = ("", "[].status", "[].lastTransitionTime")
_ROOT = "        required: [metadata, spec]\n"
_ALL_DEFAULTS = "type: object, properties: {b: {type: integer, default: 1}}"
CASES: list[Case] = [
    *_COLUMNS,
    *_patterns(
        "", "^a$", "^(a|b)$", "(^a$)|(^b$)", "(^a$|^b$)", "^a|^b", "^[a-z]", "^a.*", ".*a", "a.*", r"^a\$", r"^a\+"
    ),
    *_patterns("", "^a.*|b$", "(^a)(b$)", "a$|b$"),
    *_patterns("", "(?i)^a$", "^[(]$|^b$", r"^\($|^b$", r"\Aa\z", "(?:^a$)", "^[|]$", r"^\|$", "^[a|b]+$"),
    *_patterns("which any text around", "a", "[a|b]", r"a\|b", "(^a|b$)", "(a)|(b)", "a.b", r"a\.", r"a\$", "(a|b)"),
    *_patterns("has the pattern", f"{'(' * 900}a{')' * 900}", "a" * 1_000_000),
    *_patterns("^ and $ belong to a part", "^a|b$", "^a$|b", "^(a)|(b)$", "a|^b$", "^[(]$|b"),
    *_patterns("says nothing of what follows", "^[a-z]+", "^a+?", "^a{2}", "^(a|b)*"),
    *_fields(
        "ST13",
        ("a: {type: string, minLength: 0}", ""),
        ("a: {type: string, maxLength: -1}", "maxLength of .spec.a is negative"),
        ("a: {type: integer, minimum: -5, maximum: -1}", ""),
        ("a: {type: integer, minimum: 1, maximum: 1}", ""),
        ("a: {type: integer, minimum: 1, maximum: 2, exclusiveMinimum: true}", ""),
        ("a: {type: array, minItems: 2, maxItems: 1, items: {type: string}}", "minItems is 2, maxItems is 1"),
        ("a: {type: array, minItems: 1, maxItems: 1, items: {type: string}}", ""),
        ("a: {type: array, minItems: 1, maxItems: 1, exclusiveMinimum: false, items: {type: string}}", ""),
        ("a: {type: string, nullable: true, enum: [a, null]}", ""),
        ("a: {type: string, enum: [a, null]}", "null in the enum of .spec.a is no string"),
        ("a: {type: string, enum: [true]}", "true in the enum of .spec.a is no string"),
        ("a: {type: integer, enum: [true]}", "true in the enum of .spec.a is no integer"),
        ("a: {type: boolean, enum: [true]}", ""),
        ("a: {type: integer, enum: [1.0]}", ""),
        ("a: {type: integer, enum: [1.5]}", "1.5 in the enum of .spec.a is no integer"),
        ("a: {type: number, enum: [1, 1.5]}", ""),
    ),
    *_fields(
        "ST14",
        (f"a: {{{_EMBEDDED}, required: [kind, metadata]}}", ""),
        ("a: {type: object, properties: {}, required: [kind]}", ".spec.a requires 'kind'"),
        ("a: {type: object, additionalProperties: false, required: [b]}", ".spec.a requires 'b'"),
        ("a: {type: string, required: [b]}", ""),
    ),
    ("ST14", crd("spec: {type: object}") + _ROOT, []),
    ("ST14", crd("status: {type: object}") + _ROOT, ["the root requires 'spec'"]),
    *_fields(
        "ST12",
        (f"a: {_OBJECT % (f'b: {_OBJECT % _DEEP}')}", ".spec.a.b.c nests 5 levels deep, to .spec.a.b.c.d.e; keep to 3"),
    ),
    ("ST10", crd("spec: {type: object, default: null}"), ["info spec is not required"]),
    ("ST10", crd("a: {type: object}\nstatus: {type: object}"), ["warning version v1 has no spec: put a into one"]),
    ("ST10", crd("status: {type: object}") + "        x-kubernetes-preserve-unknown-fields: true\n", []),
    ("ST10", crd("spec: {type: object, required: [a]}"), []),
    ("VA17", crd("spec: {type: object, default: null, required: [a]}"), ["spec requires a, but"]),
    ("VA17", crd("spec: {type: object, default: {}, required: [a]}"), []),
    ("VA17", crd("spec: {type: object, required: [a, b, c, d]}"), ["spec requires a, b, c, …, but"]),
    *_fields("ST11", ("at: {type: object, properties: {status: {type: string}}}", ".spec.at.status reads")),
    ("ST11", spec(f"conditions: {_LIST % _CONDITION}"), [f".spec.conditions{part} reads" for part in _SEEN]),
    ("ST11", spec(f"others: {_LIST % _CONDITION}"), [f".spec.others{part} reads" for part in _SEEN[1:]]),
    ("ST11", spec(f"conditions: {_LIST % 'type: {type: string}'}"), []),
    *_fields(
        "CE04",
        ("a: {type: integer, x-kubernetes-validations: [{rule: self == 1}]}", ""),
        (f"a: {{{_IMMUTABLE.replace('message: no', 'message: no, optionalOldSelf: true')}}}", ""),
        (f"a: {{{_IMMUTABLE}, default: x}}", ""),
        (f"a: {{{_HOLDS}, {_AROUND.format('self.c == oldSelf.c')}", ".spec.a.b can be removed"),
        (f"a: {{{_HOLDS}, {_AROUND.format('has(self.b)')}", ".spec.a.b can be removed"),
        (f"a: {{{_HOLDS}, required: [b]}}", "has(self.a) == has(oldSelf.a)"),
        (f"namespace: {{{_IMMUTABLE}}}", "has(self.__namespace__) == has(oldSelf.__namespace__)"),
        (f"a: {{type: array, items: {{{_IMMUTABLE}}}}}", ""),
    ),
    ("CE04", spec(f"a: {{{_HOLDS}, {_AROUND.format('self == oldSelf')}") + "            required: [a]\n", []),
    *_fields(
        "VA18",
        (f"mode: {{{_STATES}}}", ""),
        ("state: {type: string, enum: [A, B]}", ""),
        (f"lastState: {{{_STATES}}}", ".spec.lastState may go"),
        (f"a: {{type: array, items: {{type: object, properties: {{state: {{{_STATES}}}}}}}}}", ""),
        (f"state: {{{_STATES}, x-kubernetes-validations: [{{rule: self != 'A'}}]}}", ".spec.state may go"),
        (f"a: {{{_STATED}, {_AROUND.format('self.state == oldSelf.state')}", ""),
        (f"a: {{{_STATED}, {_AROUND.format('self.b == oldSelf.b')}", ".spec.a.state may go"),
    ),
    *_fields(
        "VA02",
        (
            f"a: {{type: object, {_NAMESPACE}, {_READ}}}",
            "error .spec.a.namespace has no maxLength, and a CEL rule reads",
        ),
        (f"a: {{type: object, {_NAMESPACE}, {_UNREAD}}}", "warning .spec.a.namespace has no maxLength"),
        ("a: {type: string, x-kubernetes-validations: [{rule: 'true'}]}", "error .spec.a has no maxLength"),
        ("a: {type: string, format: date}", ""),
        ("a: {type: integer}", ""),
        ("a: {type: object, additionalProperties: {type: integer}}", "warning .spec.a has no maxProperties"),
    ),
    *_fields(
        "VA03",
        ("metadata: {type: object, properties: {namespace: {type: string}}}", ""),
        ("namespace: {type: integer}", ""),
        ("namespace: {type: string, pattern: ^a$}", ""),
        ("namespace: {type: array, items: {type: string}}", ""),
        ("secret: {type: object, properties: {name: {type: string}}}", ""),
        ("secretRef: {type: object, properties: {key: {type: string}}}", ""),
        ("secretKey: {type: string}", ""),
        ("name: {type: string}", ""),
        ("secret: {type: string}", ""),
    ),
    *_fields(
        "VA04",
        ("mode: {type: integer}", ""),
        ("modes: {type: array, items: {type: string}}", ""),
        ("mode: {type: string, pattern: ^a$}", ""),
        ("a: {type: object, properties: {type: {type: string}}}", ".spec.a.type is a choice"),
        ("storage: {type: object, properties: {type: {type: string}}}", ""),
        ("storage: {type: object, properties: {aType: {type: string}}}", ".spec.storage.aType is a choice"),
    ),
    *_fields(
        "VA05",
        ("a: {type: string, enum: [b, c, d, e]}", ".spec.a has values that are not CamelCase: b, c, d, …"),
        ("a: {type: string, enum: [b, c]}", "not CamelCase: b, c"),
        ("scheme: {type: string, enum: [http, https]}", ""),
        ("a: {type: string, enum: [Http, http]}", ""),
    ),
    *_fields(
        "VA11",
        ("timeout: {type: integer}", ""),
        ("timeout: {type: string, enum: [1h]}", ""),
        ("timeout: {type: string, pattern: ^a$}", ""),
        ("a: {type: string}", ""),
        ("a: {type: array, items: {type: string, format: duration}}", "an integer such as seconds needs"),
        ("timeout: {type: string}", "an integer such as timeoutSeconds needs"),
    ),
    *_fields(
        "VA12",
        ("a: {type: string, nullable: true, default: a}", ".spec.a may be null, and null keeps its default away: let"),
        ("a: {type: string, nullable: true}", ".spec.a may be null: let"),
    ),
    *_fields(
        "VA15",
        ("a: {type: array, items: {type: object}}", ""),
        ("a: {type: array, items: {type: string}}", ""),
        (f"a: {{type: array, items: {{type: object, properties: {{{_PORT}}}}}}}", ""),
        ("a: {type: object, properties: {b: {type: string}}}", ""),
    ),
    *_fields(
        "DE01",
        ("a: {type: number, default: 1.0, description: 1 if unset.}", ""),
        ("a: {type: number, default: 1.0, description: 1.5 at most.}", ".spec.a defaults to 1.0"),
        ("a: {type: string, default: a, description: A zone.}", '.spec.a defaults to "a"'),
        ("a: {type: string, default: Fast, description: fast if unset.}", ""),
        ("a: {type: object, default: {b: 1}, properties: {b: {type: integer}}}", ".spec.a is an object with a default"),
        ("a: {type: array, default: [b], items: {type: string}}", ".spec.a is a list with a default"),
    ),
    *_fields(
        "DE02",
        (f"a: {{type: array, items: {{type: object, required: [protocol], properties: {{{_PORT}}}}}}}", ""),
        ("a: {type: object, required: [b, c], properties: {b: {type: string, default: x}}}", ".spec.a.b is required"),
    ),
    *_fields(
        "DE04",
        (
            f"a: {{type: object, properties: {{b: {{{_ALL_DEFAULTS}, default: {{}}}}, c: {{{_ALL_DEFAULTS}}}}}}}",
            ".spec.a.c has",
        ),
        (f"a: {{{_ALL_DEFAULTS}, nullable: true}}", ""),
        (f"a: {{type: object, oneOf: [{{required: [b]}}], properties: {{b: {{{_ALL_DEFAULTS}}}}}}}", ""),
        ("a: {type: object, properties: {b: {type: integer, default: null}}}", ""),
        (f"a: {{type: array, items: {{{_ALL_DEFAULTS}}}}}", ""),
    ),
    *_fields(
        "LS01",
        ("a: {type: array, x-kubernetes-list-type: null, items: {type: object}}", ".spec.a is a list"),
        ("a: {type: array, items: {type: string}}", ""),
        ("a: {type: object, items: {type: object}}", ""),
    ),
    ("LS01", status(f"conditions: {{type: array, items: {{type: object, properties: {{type: {_STRING}}}}}}}"), []),
    *_fields(
        "NA02", ("timestamp: {type: string}", ""), ("reference: {type: string}", ""), ("time: {type: string}", "")
    ),
    *_fields("NA03", ("timeout: {type: string}", ""), ("a: {type: integer}", ""), ("msTimeout: {type: integer}", "")),
    *_fields(
        "SE03",
        ("token: {type: integer}", ""),
        ("tokens: {type: array, items: {type: string}}", ""),
        ("secretAccessKey: {type: string}", ".spec.secretAccessKey holds a secret"),
        ("secretAccessId: {type: string}", ""),
        ("tokenRef: {type: object, properties: {token: {type: string}}}", ""),
        ("a: {type: object, properties: {secretName: {type: string}, token: {type: string}}}", ""),
        ("a: {type: object, properties: {token: {type: string}}}", ".spec.a.token holds a secret"),
    ),
    *_fields("SE04", ("a: {type: object, properties: {name: {type: string}, namespace: {type: string}}}", "")),
    ("SE02", role("{apiGroups: [a], resources: [widgets], verbs: [create]}"), []),
    ("SE02", role("{apiGroups: [a], resources: [widgets/status], verbs: [get, '*']}"), []),
    ("SE02", role("{apiGroups: [a], resources: [widgets, widgets/status], verbs: [create]}"), []),
    ("SU02", crd("spec: {type: object}") + "        x-kubernetes-preserve-unknown-fields: true\n", []),
    ("SU05", status("observedGeneration: {type: integer, default: -1}"), []),
    ("SU05", status("observedGeneration: {type: integer, default: 0}"), [".status.observedGeneration defaults to 0"]),
    ("SU05", status("a: {type: integer, default: -1}"), [".status.a defaults to -1"]),
    ("SU05", status("a: {type: array, items: {type: string, default: a}}"), []),
    ("SU05", status("a: {type: array, items: {type: object, properties: {b: {type: string, default: a}}}}"), []),
    ("SU05", status(f"a: {{type: object, additionalProperties: {{{_ALL_DEFAULTS}}}}}"), []),
    ("CO01", crd("status: {type: object, x-kubernetes-preserve-unknown-fields: true}"), []),
    ("CO01", status("a: {type: array, items: {type: string}}"), ["status has no conditions"]),
    ("CO01", status("a: {type: object, properties: {conditions: {type: string}}}"), ["status has no conditions"]),
    ("CO01", status("conditions: {type: array}"), ["status.conditions is no list of metav1.Condition"]),
    ("CO04", status("conditions: {type: string}"), []),
    ("CO04", status("conditions: {type: array, items: {type: object}}"), ["x-kubernetes-list-type atomic (unset)"]),
    (
        "CO04",
        status("conditions: {type: array, x-kubernetes-list-type: set, items: {type: string}}"),
        ["list-type set; it"],
    ),
    ("CO07", status("phase: {type: object}"), []),
    ("CO07", status("a: {type: object, properties: {phase: {type: string}}}"), [".status.a.phase is a phase"]),
    ("CO07", status("a: {type: object, properties: {hookPhase: {type: string}}}"), []),
    ("CO05", status(f"conditions: {_LIST % _CONDITION}"), ["status may be any text; it must be"]),
    (
        "CO05",
        status(f"conditions: {_LIST % _CONDITION.replace('status: {type: string}', 'status: {type: boolean}')}"),
        [],
    ),
    ("CO06", status(f"conditions: {_LIST % (_CONDITION + ', reason: {type: string, enum: [A]}')}"), []),
    ("CO06", status(f"conditions: {_LIST % (_CONDITION + ', reason: {type: integer}')}"), []),
    *_fields(
        "CE03",
        ("a: {type: integer, x-kubernetes-validations: [{rule: self > 1, messageExpression: string(self)}]}", ""),
        ("a: {type: integer, x-kubernetes-validations: [{rule: self > 1}]}", "a rule of .spec.a has no message"),
    ),
    *_fields(
        "UX01",
        ("a: {type: array, description: A list., items: {type: string}}", ""),
        (f"a: {{type: array, description: A list., items: {{type: object, properties: {{{_PORT}}}}}}}", ""),
    ),
    ("UX01", crd("kind: {type: string}\nstatus: {type: object, description: Observed.}"), []),
    (
        "UX01",
        crd("kind: {type: string}").replace("description: A widget.", "title: A"),
        ["version v1 of the kind has no"],
    ),
    (
        "ST08",
        crd("spec: {type: object}") + "        x-kubernetes-preserve-unknown-fields: true\n",
        ["version v1 keeps"],
    ),
    *_fields(
        "ST09",
        ("metadata: {type: object}", ""),
        ("a: {type: object, nullable: true}", ""),
        ("a: {type: array, items: {type: object}}", ".spec.a[] declares no fields"),
    ),
    ("VE08", _two("type: array, x-kubernetes-list-type: atomic, items: {type: string}"), []),
    *_fields(
        "ST07",
        (
            "a: {type: string, maxlength: 1}",
            "error .spec.a has the keyword 'maxlength', which CRDs do not have; did you mean max",
        ),
        ("a: {type: array, items: {type: string, far: 1}}", "warning .spec.a[] has the keyword 'far'"),
        ("a: {type: 'null'}", ".spec.a is of type 'null': use nullable"),
        ("a: {type: text}", ".spec.a is of type 'text': it must be one of array"),
    ),
    *_fields("VA08", ("a: {type: string, format: date-tme}", "that the API server checks; did you mean date-time?")),
    *_fields("CE05", (f"items: {{{_IMMUTABLE}}}", "")),
    ("ST04", crd("spec: {type: object}").replace("storage: true", "storage: false"), ["storage: true, but none has"]),
    ("ST04", _two("type: string").replace("storage: false", "storage: true"), ["storage: true, but v1, v2 have"]),
    ("ST04", crd("a: {type: object}").replace("plural:", "shortNames: a\n    plural:"), ["spec.names.shortNames: "]),
    (
        "UX07",
        crd("a: {type: object}", extra="additionalPrinterColumns: [{type: date, jsonPath: .a}]"),
        ["column 1 has no name"],
    ),
    (
        "UX07",
        crd("a: {type: object}", extra="additionalPrinterColumns: [{name: A, jsonPath: .a}]"),
        ["column A has no type"],
    ),
    (
        "UX07",
        crd("a: {type: object}", extra="additionalPrinterColumns: [{name: A, type: date}]"),
        ["column A has no jsonPath"],
    ),
    ("UX03", crd("spec: {type: object}"), ["info version v1 has no printer columns"]),
    ("UX03", crd("spec: {type: object}").replace("served: true", "served: false"), []),
    ("UX06", spec(f"a: {{type: string, description: {'a' * 1_600_000}}}"), ["error the CRD has 1,60"]),
]


@pytest.mark.parametrize(("rule", "text", "messages"), CASES, ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)])
def test_rule_tells(rule: str, text: str, messages: list[str]) -> None:
    """The rule has these messages, and no others."""
    found = lint([Source("a.yaml", text)], RULES.choose(select=[rule])).findings
    told = [f"{finding.severity} {finding.message}" for finding in found]
    assert len(told) == len(messages), told
    assert all(part in message for part, message in zip(messages, told, strict=True)), told
