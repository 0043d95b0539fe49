"""The report as JUnit XML, which any CI system shows as tests.

A finding is a test that failed, a hint one that was left out; files without findings are a test that passed. There is
no standard of the form; this is what Jenkins and GitLab read.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.report.places import relative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.lint.finding import Finding, Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """Render a suite a file."""
    root = ET.Element("testsuites", name="lint-crd")
    by_file = {file: list(found) for file, found in groupby(report.findings, key=lambda finding: finding.file)}
    clean = report.files - len(by_file)
    for file, findings in by_file.items():
        _suite(root, relative(file), findings)
    if clean > 0 or not by_file:
        suite = ET.SubElement(root, "testsuite", name="other files", tests="1", failures="0", skipped="0")
        ET.SubElement(suite, "testcase", classname="lint-crd", name=f"{clean} without findings")
    for key in ("tests", "failures", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, file: str, findings: Iterable[Finding]) -> None:
    suite = ET.SubElement(root, "testsuite", name=_text(file))
    counts = {"tests": 0, "failures": 0, "skipped": 0}
    for finding in findings:
        name = f"{finding.rule} {finding.version} {finding.field}".replace("  ", " ").rstrip()
        case = ET.SubElement(suite, "testcase", classname=_text(file), name=_text(f"{name} at line {finding.line}"))
        tag, count = ("skipped", "skipped") if finding.severity is Severity.INFO else ("failure", "failures")
        outcome = ET.SubElement(case, tag, message=_text(finding.message))
        if tag == "failure":
            outcome.set("type", finding.severity)
        outcome.text = _text(f"{file}:{finding.line}:{finding.column}")
        counts["tests"] += 1
        counts[count] += 1
    for key, number in counts.items():
        suite.set(key, str(number))


def _text(value: str) -> str:
    return _NOT_XML.sub("\ufffd", value)
