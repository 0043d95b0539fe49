"""``pyopscaffold lint-crd --fix`` and ``--diff``, as a user runs them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint import fixes
from pyopscaffold.lint.example import spec
from tests.unprivileged import DROP, open_to_others

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.ruleset import Ruleset

BEFORE = spec("size: {type: integer, minimum: 0, maximum: 9}\nother: {type: integer}")
AFTER = BEFORE.replace("maximum: 9", "maximum: 9, format: int32")
ONLY = ("--select", "VA10", "--fail-on", "info", "--isolated")
CRD = Path("crd.yaml")


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with one CRD, of whose two findings one has a safe fix."""
    monkeypatch.chdir(tmp_path)
    CRD.write_text(BEFORE)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Have standard input be a text."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_fix_writes_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """What is left decides the exit code."""
    assert run(["lint-crd", "crd.yaml", "--fix", *ONLY]) == 1
    assert CRD.read_text() == AFTER
    assert capsys.readouterr().out.endswith("1 CRD in 1 file checked by 1 rule: 1 info (1 fixed)\n")
    assert run(["lint-crd", "crd.yaml", "--fix", "--unsafe-fixes", *ONLY]) == 0
    assert CRD.read_text() == AFTER.replace("{type: integer}", "{type: integer, format: int64}")
    assert capsys.readouterr().out == "1 CRD in 1 file checked by 1 rule: no findings (1 fixed)\n"


def test_a_second_run_changes_nothing() -> None:
    """The file is not even written."""
    run(["lint-crd", "crd.yaml", "--fix", *ONLY])
    written = CRD.stat()
    run(["lint-crd", "crd.yaml", "--fix", *ONLY])
    assert CRD.stat() == written


def test_diff_shows_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """It exits 1 while there is something to fix, whatever is found besides."""
    assert run(["lint-crd", "crd.yaml", "--diff", *ONLY]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("--- a/crd.yaml\n+++ b/crd.yaml\n@@ ")
    assert [line.split()[-2:] for line in shown.out.splitlines() if line.startswith("+ ")] == [["format:", "int32}"]]
    assert shown.err == "1 would be fixed\n"
    assert CRD.read_text() == BEFORE
    CRD.write_text(AFTER)
    assert run(["lint-crd", "crd.yaml", "--diff", *ONLY]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    [BEFORE.replace("\n", "\r\n"), BEFORE.rstrip("\n"), BEFORE.replace("Desired state.", '"Desired\u2028 state."')],
    ids=["CRLF", "no last line end", "other line breaks"],
)
def test_a_diff_can_be_applied(text: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """What git makes of it is what --fix would."""
    CRD.write_bytes(text.encode())
    run(["lint-crd", "crd.yaml", "--diff", *ONLY])
    subprocess.run(["git", "apply"], input=capfdbinary.readouterr().out, check=True)
    assert CRD.read_bytes() == text.replace("maximum: 9", "maximum: 9, format: int32").encode()


def test_standard_input_goes_to_output(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The text alone; the report goes to stderr. Line ends stay."""
    for text, expected in ((BEFORE, AFTER), (AFTER, AFTER)):
        pipe(monkeypatch, text.replace("\n", "\r\n"))
        assert run(["lint-crd", "-", "--fix", *ONLY]) == 1
        shown = capsysbinary.readouterr()
        assert shown.out.decode() == expected.replace("\n", "\r\n")
        assert b"<stdin>:26:15 VA10 info" in shown.err


def test_standard_input_has_a_diff(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It is shown as that of a file."""
    pipe(monkeypatch, BEFORE)
    assert run(["lint-crd", "-", "--diff", *ONLY]) == 1
    assert capsys.readouterr().out.startswith("--- a/<stdin>\n+++ b/<stdin>\n@@ ")


def test_a_byte_order_mark_stays() -> None:
    """As all that no fix is about."""
    CRD.write_bytes(b"\xef\xbb\xbf" + BEFORE.encode())
    run(["lint-crd", "crd.yaml", "--fix", *ONLY])
    assert CRD.read_bytes() == b"\xef\xbb\xbf" + AFTER.encode()


def test_several_processes_fix_the_same(tmp_path: Path) -> None:
    """Each file is fixed, what the baseline lists stays."""
    for number in range(3):
        (tmp_path / f"{number}.yaml").write_text(BEFORE.replace("idget", f"idget{number}"))
    (tmp_path / "other.yaml").write_text(BEFORE.replace("idget", "other"))
    run(["lint-crd", "other.yaml", "--baseline", "base.json", "--write-baseline", *ONLY])
    run(["lint-crd", ".", "--baseline", "base.json", "--fix", "--jobs", "2", *ONLY])
    assert [(tmp_path / f"{number}.yaml").read_text() for number in range(3)] == [
        AFTER.replace("idget", f"idget{number}") for number in range(3)
    ]
    assert (tmp_path / "other.yaml").read_text() == BEFORE.replace("idget", "other")


def test_files_may_lie_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the working directory, or behind a link, which stays one."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "linked.yaml").symlink_to("crd.yaml")
    monkeypatch.chdir(tmp_path / "deep")
    run(["lint-crd", "../linked.yaml", "--fix", *ONLY])
    assert (tmp_path / "linked.yaml").is_symlink()
    assert (tmp_path / "crd.yaml").read_text() == AFTER


def test_what_the_baseline_lists_stays() -> None:
    """It is put up with, though something else in the file is fixed."""
    run(["lint-crd", "crd.yaml", "--baseline", "base.json", "--write-baseline", *ONLY])
    more = BEFORE.replace("              other:", "              more: {type: integer}\n              other:")
    for text, fixed in (
        (BEFORE, BEFORE),
        (more, more.replace("more: {type: integer", "more: {type: integer, format: int64")),
    ):
        CRD.write_text(text)
        assert run(["lint-crd", "crd.yaml", "--baseline", "base.json", "--fix", "--unsafe-fixes", *ONLY]) == 0
        assert CRD.read_text() == fixed


def test_what_somebody_else_changed_meanwhile_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was fixed is not what is there now."""
    mend = fixes.mend

    def slowly(source: Source, ruleset: Ruleset, *, accepted: frozenset[str], unsafe: bool) -> fixes.Fixed:
        CRD.write_text("# mine\n")
        return mend(source, ruleset, accepted=accepted, unsafe=unsafe)

    monkeypatch.setattr(fixes, "mend", slowly)
    assert run(["lint-crd", "crd.yaml", "--fix", *ONLY]) == 2
    assert "crd.yaml was changed while it was checked; nothing was changed" in capsys.readouterr().err
    assert CRD.read_text() == "# mine\n"


def test_what_can_not_be_edited_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The finding stays, and a note says why."""
    CRD.write_text(spec("a: &small {type: integer, minimum: 0, maximum: 9}\nb: *small"))
    assert run(["lint-crd", "crd.yaml", "--fix", *ONLY]) == 1
    shown = capsys.readouterr()
    assert "crd.yaml:25: VA10 can't be fixed in place" in shown.err
    assert shown.out.endswith(": 2 info\n")


def test_json_reports_count_what_was_fixed(capsys: pytest.CaptureFixture[str]) -> None:
    """The summary has it."""
    run(["lint-crd", "crd.yaml", "--fix", "--output", "json", *ONLY])
    content = json.loads(capsys.readouterr().out)
    assert content["summary"]["fixed"] == 1
    assert [finding["fixable"] for finding in content["findings"]] == ["unsafe"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--unsafe-fixes"], "--unsafe-fixes alone changes nothing"),
        (["--fix", "--baseline", "base.json", "--write-baseline"], "a baseline is not written while fixes are made"),
    ],
    ids=["unsafe", "baseline"],
)
def test_misuse_is_told(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that don't go together are an error, and nothing is written."""
    assert run(["lint-crd", "crd.yaml", *options, *ONLY]) == 2
    assert message in capsys.readouterr().err
    assert CRD.read_text() == BEFORE


def test_a_read_only_file_is_told(tmp_path: Path) -> None:
    """None of the files is written then."""
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(BEFORE)
    (tmp_path / "b.yaml").chmod(0o444)
    (tmp_path / "a.yaml").chmod(0o666)
    open_to_others(tmp_path)
    tmp_path.chmod(0o777)
    options = [*ONLY, "--fix"]
    code = f"""
from pyopscaffold.cli.app import run
run(["lint-crd", "absent.yaml", "--fix"])
run(["lint-crd", "a.yaml", "--diff"])  # so that late imports are done
{DROP}
raise SystemExit(run(["lint-crd", "a.yaml", "b.yaml", *{options!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "b.yaml is read-only; nothing was changed" in done.stderr
    assert (tmp_path / "a.yaml").read_text() == BEFORE
