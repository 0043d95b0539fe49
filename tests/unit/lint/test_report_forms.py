"""Reports for other tools: what those tools make of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.cli.reports import Form
from pyopscaffold.document.reader import Source
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.finding import Failure, Finding, Report, Severity
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import github, gitlab, junit, sarif, text
from tests.tools_path import tool

if TYPE_CHECKING:
    from pathlib import Path

RULES = builtin()
STRINGS = spec("a: {type: string}\nb: {type: string, description: B is b.}")

# GitLab publishes no schema; this is its description of the form, at the address that report/gitlab.py names.
GITLAB: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^[^./][^:]*$"},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer"}}},
                },
            },
        },
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder, which is the working directory."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def report_of(content: str, *select: str, file: str = "dir/x.yaml") -> Report:
    """Lint one text by some rules."""
    return lint([Source(file, content)], RULES.choose(select=select or ["VA01", "UX01"]))


def odd_report(**changes: Any) -> Report:
    """Make a report of a finding that no form may trip over."""
    finding = {"file": "./a b/ü,1%.yaml", "line": 3, "column": 1, "rule": "VA01", "severity": Severity.INFO}
    odd = Finding(**{**finding, "message": "50 % of\r\n<x> & \x1b[31m::end", **changes})
    return Report(findings=(odd,), skipped=(), files=3, crds=1, rules=1)


def results(content: str) -> list[dict[str, Any]]:
    """Read the results of a SARIF text."""
    found: list[dict[str, Any]] = json.loads(content)["runs"][0]["results"]
    return found


@pytest.mark.parametrize(
    "report", [report_of(STRINGS), report_of("{{ if .x }}\n"), report_of("a: 1\na: 2\n", "ST01"), odd_report()]
)
def test_sarif_is_valid(report: Report) -> None:
    """The schema of OASIS takes it, with findings, without, and with parts that were skipped."""
    schema = json.loads(tool("sarif-schema-2.1.0.json").read_text())
    content = json.loads(sarif.render(report, RULES.known))
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER).validate(content)
    run_of = content["runs"][0]
    assert len(run_of["results"]) == len(report.findings)
    for result in run_of["results"]:
        assert run_of["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_names_place_and_level() -> None:
    """A result leads to the line and the field, with the URI of the file and the level of its severity."""
    (result,) = results(sarif.render(odd_report(line=7, column=5, crd="w.x.y", version="v1", field=".spec.a"), ()))
    assert result["level"] == "note"
    (location,) = result["locations"]
    assert location == {
        "physicalLocation": {
            "artifactLocation": {"uri": "a%20b/%C3%BC%2C1%25.yaml"},
            "region": {"startLine": 7, "startColumn": 5},
        },
        "logicalLocations": [{"fullyQualifiedName": "w.x.y/v1/.spec.a"}],
    }


def test_places_are_told_from_the_working_folder(folder: Path) -> None:
    """What is outside of it has its whole path, and standard input a name that is one."""
    outside = folder.parent / "other" / "x.yaml"
    for file, uri in {
        "-": "stdin",
        "<stdin>": "stdin",
        "../other/x.yaml": outside.as_uri(),
        str(outside): outside.as_uri(),
        str(folder / "x.yaml"): "x.yaml",
    }.items():
        (result,) = results(sarif.render(odd_report(file=file), ()))
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_sarif_says_whether_all_rules_ran() -> None:
    """A rule that broke down makes the run no success, whatever the others found."""
    broken = replace(odd_report(), failures=(Failure("x.yaml", 1, "VA01", "KeyError"),))
    for report, successful in ((odd_report(), True), (broken, False)):
        (invocation,) = json.loads(sarif.render(report, ()))["runs"][0]["invocations"]
        assert invocation["executionSuccessful"] is successful


def test_a_message_does_not_steer_the_terminal() -> None:
    """Names in a file may hold anything; a finding is one line, without control characters."""
    head, *_ = text.render(odd_report()).splitlines()
    assert head.endswith("VA01 info 50 % of  <x> &  [31m::end")


def test_fingerprints_stay_while_lines_move() -> None:
    """A comment above, or another name of the file, changes no fingerprint; no two findings share one."""
    before = results(sarif.render(report_of(STRINGS), RULES.known))
    moved = results(sarif.render(report_of("# hello\n\n" + STRINGS, file="elsewhere/y.yaml"), RULES.known))
    marks = [result["partialFingerprints"]["crdField/v1"] for result in before]
    assert marks == [result["partialFingerprints"]["crdField/v1"] for result in moved]
    assert len(set(marks)) == len(marks) == 3
    twice = lint([Source("a.yaml", STRINGS), Source("b.yaml", STRINGS)], RULES.choose(select=["VA01"]))
    assert len({entry["fingerprint"] for entry in json.loads(gitlab.render(twice))}) == 4


def test_gitlab_takes_it() -> None:
    """Each finding has what GitLab asks for, and a path from the root without ``./``."""
    for report in (report_of(STRINGS, file="./dir/x.yaml"), odd_report()):
        content = json.loads(gitlab.render(report))
        jsonschema.validate(content, GITLAB)
        assert len(content) == len(report.findings)
    assert [entry["severity"] for entry in content] == ["info"]


def test_github_shows_errors_first_and_is_not_misled() -> None:
    """A command is one line, whatever a message or a file's name holds."""
    (command, summary) = github.render(odd_report()).splitlines()
    assert command == (
        "::notice file=a b/ü%2C1%25.yaml,line=3,col=1,title=VA01::50 %25 of%0D%0A<x> & \x1b[31m::end"
    )  # what follows the second :: is shown as it is
    assert summary == "1 CRD in 3 files checked by 1 rule: 1 info"
    mixed = github.render(
        lint([Source("x.yaml", STRINGS + "---\na: 1\na: 2\n")], RULES.choose(select=["VA01", "ST01"]))
    )
    assert re.findall("^::([a-z]+)", mixed, re.MULTILINE) == ["error", "warning", "warning"]


def test_junit_counts_and_is_xml() -> None:
    """A finding is a failed test, a hint a skipped one, all other files a passed one."""
    root = ET.fromstring(junit.render(report_of(STRINGS)).encode())  # noqa: S314 - we wrote it
    assert {key: root.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "3",
        "skipped": "0",
    }
    assert {case.get("name", "").partition(" at line ")[0] for case in root.iter("testcase")} == {
        "UX01 v1 .spec.a",
        "VA01 v1 .spec.a",
        "VA01 v1 .spec.b",
    }
    odd = ET.fromstring(junit.render(odd_report()).encode())  # noqa: S314 - we wrote it
    assert (odd.get("tests"), odd.get("failures"), odd.get("skipped")) == ("2", "0", "1")
    empty = ET.fromstring(junit.render(report_of(STRINGS, "ST01")).encode())  # noqa: S314 - we wrote it
    assert (empty.get("tests"), empty.get("failures")) == ("1", "0")


def test_several_forms_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each form goes to its file, the text to standard output unless another form is there."""
    (folder / "x.yaml").write_text(STRINGS)
    files = ["-f", "sarif:out.sarif", "--output", "junit:out.xml", "--format", "gitlab:gl.json"]
    assert run(["lint-crd", "x.yaml", "--select", "VA01", *files]) == 1
    assert capsys.readouterr().out.startswith("x.yaml:")
    assert len(results((folder / "out.sarif").read_text())) == len(json.loads((folder / "gl.json").read_text())) == 2
    assert (folder / "out.xml").read_text().startswith("<?xml")
    assert run(["lint-crd", "x.yaml", "--select", "VA01", "-f", "github", "-f", "json:out.json"]) == 1
    assert capsys.readouterr().out.startswith("::warning file=x.yaml,")


def test_files_are_written_though_nobody_reads_on(folder: Path) -> None:
    """``| head`` ends the text, not the files, whatever the order in which they are asked for."""
    (folder / "x.yaml").write_text(STRINGS)
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", "x.yaml", "-f", "json", "-f", "sarif:out.sarif"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert results((folder / "out.sarif").read_text())


def test_what_is_no_file_takes_a_report(folder: Path) -> None:
    """A pipe, as ``>(...)`` makes one, or a device is neither read first nor replaced; a link stays one."""
    (folder / "x.yaml").write_text(STRINGS)
    os.mkfifo(folder / "pipe")
    (folder / "there").mkdir()
    (folder / "link.sarif").symlink_to("there/out.sarif")
    reader, (unnamed, writer) = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK), os.pipe()
    files = ("-f", "json:pipe", "-f", f"gitlab:/dev/fd/{writer}", "-f", "sarif:link.sarif")
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", "x.yaml", "--select", "VA01", *files]
    subprocess.run(command, cwd=folder, pass_fds=[writer], stdout=subprocess.DEVNULL, timeout=60, check=False)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe, os.fdopen(unnamed, encoding="utf-8") as other:
        assert len(json.load(pipe)["findings"]) == len(json.load(other)) == 2
    assert (folder / "pipe").is_fifo()
    assert (folder / "link.sarif").is_symlink()
    assert results((folder / "there" / "out.sarif").read_text())


@pytest.mark.parametrize("form", list(Form))
def test_names_may_be_any_bytes(folder: Path, form: Form) -> None:
    """A file's name that is no UTF-8 breaks no form."""
    name = os.fsdecode(b"\xff.yaml")
    (folder / name).write_text("a: 1\na: 2\n")
    assert run(["lint-crd", name, "-f", f"{form}:out"]) == 1
    assert run(["lint-crd", name, "-f", form]) == 1
    if form is Form.SARIF:
        (result,) = results((folder / "out").read_text())
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%FF.yaml"


@pytest.mark.parametrize(
    ("outputs", "message", "hint"),
    [
        (["sarf"], "no form 'sarf'", "did you mean sarif?"),
        (["xyz"], "no form 'xyz'", "the forms are text, json, sarif, github, gitlab, junit"),
        (["json:"], "names no file", "json:FILE"),
        (["json", "text"], "two reports would go to standard output", "FORM:FILE"),
        (["json:a", "sarif:./a"], "two reports would go to a", "FORM:FILE"),
        (["json:a", "sarif:../folder/a"], "two reports would go to a", "FORM:FILE"),
        (["json:none/a"], "no folder none", "make it"),
        (["json:."], "is a folder", "name a file"),
        (["sarif:x.yaml"], "x.yaml is there and is no report", "name another file"),
    ],
)
def test_a_wrong_output_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], outputs: list[str], message: str, hint: str
) -> None:
    """An output that can't be is one clear error, exit code 2, and nothing is written."""
    (folder / "x.yaml").write_text(STRINGS)
    assert run(["lint-crd", "x.yaml", *(part for output in outputs for part in ("-f", output))]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert hint in shown
    assert [path.name for path in folder.iterdir()] == ["x.yaml"]
    assert (folder / "x.yaml").read_text() == STRINGS


@pytest.mark.parametrize("form", list(Form))
def test_a_report_takes_the_place_of_the_last_one(folder: Path, form: Form) -> None:
    """Whether it had findings or not, the file of an earlier run is written anew; a baseline is no report."""
    (folder / "x.yaml").write_text(content := STRINGS + "# who is it checked by 2 times?\n")
    assert run(["lint-crd", "x.yaml", "-f", f"{form}:x.yaml"]) == 2
    assert (folder / "x.yaml").read_text() == content
    for rule in ("VA01", "ST01", "VA01"):
        run(["lint-crd", "x.yaml", "--select", rule, "-f", f"{form}:out"])
    assert "VA01" in (folder / "out").read_text()
    assert run(["lint-crd", "x.yaml", "--select", "VA01", "--baseline", "b.json", "--write-baseline"]) == 0
    kept = (folder / "b.json").read_text()
    assert run(["lint-crd", "x.yaml", "--select", "VA01", "-f", f"{form}:b.json"]) == 2
    assert (folder / "b.json").read_text() == kept


def test_statistics_count_by_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With many findings, the rules that have most come first."""
    (tmp_path / "x.yaml").write_text(STRINGS)
    assert run(["lint-crd", str(tmp_path), "--select", "VA01,UX01", "--statistics"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "     2 VA01 warning in 1 CRD",
        "     1 UX01 warning in 1 CRD",
        "1 CRD in 1 file checked by 2 rules: 3 warnings",
    ]


def test_rules_can_be_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The list holds the rules that would run, and needs no files."""
    assert run(["lint-crd", "--isolated", "--select", "VA01,ST01", "--list-rules"]) == 0
    assert [line.split()[:4] for line in capsys.readouterr().out.splitlines()] == [
        ["ST01", "parse", "error", "apiserver"],
        ["VA01", "string-constraint", "warning", "checklist"],
    ]


def test_without_paths_there_is_nothing_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    """Forgetting the paths must not read as a success."""
    assert run(["lint-crd"]) == 2
    assert "nothing to check" in capsys.readouterr().err
