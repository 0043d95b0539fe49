"""The report as workflow commands, which GitHub shows at the lines of a pull request.

Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.report.places import relative
from pyopscaffold.lint.report.text import summary

if TYPE_CHECKING:
    from pyopscaffold.lint.finding import Finding, Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: Report) -> str:
    """Render a command a finding, errors first since GitHub shows only ten of a kind, and the summary for the log."""
    ordered = sorted(report.findings, key=lambda finding: tuple(Severity).index(finding.severity))
    return "\n".join([*map(_command, ordered), summary(report)]) + "\n"


def _command(finding: Finding) -> str:
    properties = {
        "file": relative(finding.file),
        "line": str(finding.line),
        "col": str(finding.column),
        "title": finding.rule,
    }
    shown = ",".join(f"{key}={value.translate(_PROPERTY)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {shown}::{finding.message.translate(_DATA)}"
