"""The report as GitLab's code quality, which merge requests show.

Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.report.places import fingerprints, relative

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> str:
    """Render the findings as a list; GitLab drops those whose fingerprint it has seen, so each has its own."""
    marks = fingerprints(report.findings)
    content = [
        {
            "description": f"{finding.rule}: {finding.message}",
            "check_name": finding.rule,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": relative(finding.file), "lines": {"begin": finding.line}},
        }
        for finding, mark in zip(report.findings, marks, strict=True)
    ]
    return json.dumps(content, indent=2) + "\n"
