"""The report for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyopscaffold.lint.finding import Severity

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Finding, Report

FORMAT_VERSION = 1  # raised when a key changes its meaning or goes


def render(report: Report) -> str:
    """Render the report as one JSON object: ``findings``, ``skipped`` and ``summary``; nothing is folded."""
    summary = {"files": report.files, "crds": report.crds, "rules": report.rules, "baselined": report.baselined}
    summary["fixed"] = report.fixed
    summary |= {
        f"{severity}s" if severity != Severity.INFO else "infos": report.count(severity) for severity in Severity
    }
    content = {
        "version": FORMAT_VERSION,
        "findings": [_finding(finding) for finding in report.findings],
        "skipped": [vars(part) for part in report.skipped],
        "summary": summary,
    }
    return json.dumps(content, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    """Tell of the fix only whether there is one: false, ``safe`` or ``unsafe``."""
    content = {key: value for key, value in vars(finding).items() if key != "fix"}
    return {**content, "fixable": finding.fix is not None and ("safe" if finding.fix.safe else "unsafe")}
