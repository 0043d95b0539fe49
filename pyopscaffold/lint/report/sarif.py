"""The report as SARIF 2.1.0, which GitHub code scanning and editors read.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pyopscaffold import __version__
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.report.places import fingerprints, relative

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Finding, Report, Skipped
    from pyopscaffold.lint.rule import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report, rules: tuple[Rule[Any], ...]) -> str:
    """Render the report as one run; ``rules`` are those that it may speak of."""
    spoken = {finding.rule for finding in report.findings}
    described = [rule for rule in rules if rule.id in spoken]
    indexes = {rule.id: index for index, rule in enumerate(described)}
    marks = fingerprints(report.findings)
    run = {
        "tool": {
            "driver": {
                "name": "pyopscaffold lint-crd",
                "version": __version__,
                "rules": [_rule(rule) for rule in described],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not report.failures,
                "toolExecutionNotifications": [_notification(part) for part in report.skipped],
            }
        ],
        "results": [_result(finding, mark, indexes) for finding, mark in zip(report.findings, marks, strict=True)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule[Any]) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.what}\n\n{rule.why}\n\npyopscaffold explain {rule.id} shows examples."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, mark: str, indexes: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _place(finding.file, finding.line, finding.column)}
    names = [name for name in (finding.crd, finding.version, finding.field) if name]
    if names:
        location["logicalLocations"] = [{"fullyQualifiedName": "/".join(names)}]
    known = {"ruleIndex": indexes[finding.rule]} if finding.rule in indexes else {}
    return {
        "ruleId": finding.rule,
        **known,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [location],
        "partialFingerprints": {"crdField/v1": mark},
    }


def _notification(part: Skipped) -> dict[str, Any]:
    return {
        "level": "note",
        "message": {"text": f"not checked: {part.reason}"},
        "locations": [{"physicalLocation": _place(part.file, part.line, 1)}],
    }


def _place(file: str, line: int, column: int) -> dict[str, Any]:
    name = relative(file)
    uri = PurePosixPath(name).as_uri() if PurePosixPath(name).is_absolute() else quote(name, errors="surrogateescape")
    return {"artifactLocation": {"uri": uri}, "region": {"startLine": line, "startColumn": column}}
