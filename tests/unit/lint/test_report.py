from __future__ import annotations

import dataclasses
import json

import pytest
import yaml

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import FailOn, Finding, Report, Severity
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import json as json_report
from pyopscaffold.lint.report import text as text_report


def report_of(text: str, *select: str) -> Report:
    """Lint one text by some rules."""
    return lint([Source("dir/x.yaml", text)], builtin().choose(select=select))


@pytest.mark.parametrize(
    ("severity", "failing"),
    [
        (Severity.ERROR, {FailOn.ERROR, FailOn.WARN, FailOn.INFO}),
        (Severity.WARNING, {FailOn.WARN, FailOn.INFO}),
        (Severity.INFO, {FailOn.INFO}),
    ],
)
def test_a_report_fails_by_its_worst_finding(severity: Severity, failing: set[FailOn]) -> None:
    """A threshold lets pass what weighs less; the default one lets hints pass."""
    finding = Finding(file="x.yaml", line=1, column=1, rule="VA01", severity=severity, message="odd")
    report = Report(findings=(finding,), skipped=(), files=1, crds=1, rules=1)
    assert {fail_on for fail_on in FailOn if report.fails(fail_on)} == failing
    assert report.fails() is (severity is not Severity.INFO)


def test_text_shows_the_line_and_points_at_the_place() -> None:
    """Place, rule, severity, message; then the line with a caret below what it is about."""
    rendered = text_report.render(report_of(spec("name: {type: string}"), "VA01"))
    assert rendered == (
        "dir/x.yaml:25:15 VA01 warning .spec.name takes any text: "
        "give it an enum, pattern, format, minLength or maxLength\n"
        "  25 |               name: {type: string}\n"
        "     |               ^^^^\n"
        "1 CRD in 1 file checked by 1 rule: 1 warning\n"
    )


def test_long_lines_are_shown_in_part() -> None:
    """A CRD may be one line of JSON: each finding shows what is around its place, and the report stays small."""
    fields = {f"f{number:04}": {"type": "string"} for number in range(2_000)}
    manifest = yaml.safe_load(spec(f"all: {json.dumps({'type': 'object', 'properties': fields})}"))
    report = lint([Source("x.json", json.dumps(manifest))], builtin().choose(select=["VA01"]))
    assert len(report.findings) == 2_000
    assert len(json_report.render(report)) < 4_000_000
    lines = text_report.render(dataclasses.replace(report, findings=report.findings[1_000:1_001])).splitlines()
    place = lines[2].index("^") - lines[2].index("|")
    assert lines[1][lines[1].index("|") + place :].startswith('"f1000": {"type": "string"}')


def test_text_folds_a_subtree() -> None:
    """Findings of one rule below one field of spec are one block that counts them; other fields have their own."""
    text = spec(
        "a: {type: object, properties: {b: {type: string}, c: {type: array, items: {type: string}}}}\nd: {type: string}"
    )
    lines = text_report.render(report_of(text, "VA01")).splitlines()
    heads = [line for line in lines if line.startswith("dir/")]
    assert [head.rpartition("maxLength")[2] for head in heads] == [" (×2 under .spec.a)", ""]
    assert lines[-1] == "1 CRD in 1 file checked by 1 rule: 3 warnings"


def test_text_has_colours_only_when_asked() -> None:
    """No escape sequence gets into a file or a pipe, and none of a file gets to the terminal."""
    report = report_of('{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", '
                       '"spec": {"group": "a.b", "scope": "\\u001b[31m\u007f"}}', "ST04")  # fmt: skip
    assert "\x1b[" in text_report.render(report, colour=True)
    plain = text_report.render(report)
    assert "\x1b" not in plain
    assert "\x7f" not in plain


def test_text_names_what_was_skipped() -> None:
    """A file that was not checked never reads as a success."""
    rendered = text_report.render(report_of("{{ if .x }}\n", "VA01"))
    assert rendered == "not checked, template: dir/x.yaml:1\n0 CRDs in 1 file checked by 1 rule: no findings\n"


def test_json_holds_every_finding() -> None:
    """Programs get all fields, unfolded, and the counts."""
    content = json.loads(json_report.render(report_of(spec("a: {type: string}\nb: {type: string}"), "VA01")))
    assert [finding["field"] for finding in content["findings"]] == [".spec.a", ".spec.b"]
    assert content["findings"][0] | {"message": "", "snippet": ""} == {
        "file": "dir/x.yaml",
        "line": 25,
        "column": 15,
        "rule": "VA01",
        "severity": "warning",
        "message": "",
        "crd": "widgets.example.com",
        "version": "v1",
        "field": ".spec.a",
        "snippet": "",
        "snippet_column": 1,
        "fixable": False,
    }
    assert content["summary"] == {
        "files": 1,
        "crds": 1,
        "rules": 1,
        "baselined": 0,
        "fixed": 0,
        "errors": 0,
        "warnings": 2,
        "infos": 0,
    }
