"""``pyopscaffold lint-crd``, as a user runs it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.lint.example import spec
from tests.unprivileged import DROP, open_to_others

if TYPE_CHECKING:
    from pathlib import Path

CLEAN = spec("size: {type: integer, description: Size.}")
DIRTY = spec("name: {type: string}")
ONLY = ("--select", "VA01")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_clean_exits_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing found is a success, and says what was checked."""
    (folder / "crd.yaml").write_text(CLEAN)
    assert run(["lint-crd", "crd.yaml", *ONLY]) == 0
    assert capsys.readouterr().out == "1 CRD in 1 file checked by 1 rule: no findings\n"


def test_findings_exit_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Findings go to standard output."""
    (folder / "crd.yaml").write_text(DIRTY)
    assert run(["lint-crd", "crd.yaml", *ONLY]) == 1
    assert capsys.readouterr().out.startswith("crd.yaml:25:15 VA01 warning ")


@pytest.mark.parametrize(
    ("fail_on", "rule", "code"),
    [
        ("error", "VA01", 0),
        ("warn", "VA01", 1),
        ("info", "VA01", 1),
        ("never", "VA01", 0),
        ("error", "ST01", 1),
        ("never", "ST01", 0),
    ],
)
def test_what_fails_can_be_set(folder: Path, fail_on: str, rule: str, code: int) -> None:
    """A finding below the threshold is shown, but the run succeeds."""
    (folder / "crd.yaml").write_text(DIRTY + "---\na: 1\na: 2\n")
    assert run(["lint-crd", "crd.yaml", "--select", rule, "--fail-on", fail_on]) == code


def test_folders_are_walked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """YAML and JSON files at any depth, each once, in order; other files, hidden and installed ones are left out."""
    left_out = ("a/e.txt", ".venv/f.yaml", "env/lib/site-packages/g.yaml", "node_modules/h/i.json")
    for name in ("b.yml", "a/c.yaml", "a/d.json", *left_out):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(DIRTY)
    (folder / ".#b.yml").symlink_to("somebody@editor.1")
    assert run(["lint-crd", ".", "b.yml", "--output", "json", *ONLY]) == 1
    content = json.loads(capsys.readouterr().out)
    assert [finding["file"] for finding in content["findings"]] == ["a/c.yaml", "a/d.json", "b.yml"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """``-`` takes what is piped in."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DIRTY.encode())))
    assert run(["lint-crd", "-", *ONLY]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:25:15 VA01")


def test_a_byte_order_mark_is_no_fault(folder: Path) -> None:
    """Windows editors write one."""
    (folder / "crd.yaml").write_bytes(b"\xef\xbb\xbf" + CLEAN.replace("\n", "\r\n").encode())
    assert run(["lint-crd", "crd.yaml", *ONLY]) == 0


@pytest.mark.parametrize(
    ("content", "options", "message", "hint"),
    [
        (CLEAN, ["--select", "VVA01"], "no rule 'VVA01'", "did you mean VA01?"),
        (CLEAN, ["--select", "VA01", "--ignore", "VA01"], "no rule is left to check by", "ignore fewer"),
        (CLEAN, ["--select", " , "], "--select names no rule", "leave it out"),
        (CLEAN, ["--ignore", ""], "--ignore names no rule", "leave it out"),
        (CLEAN, ["--select", "VE01"], "judge changes alone", "--against"),
        (CLEAN, ["--isolated", "--config", "crd.yaml"], "--isolated takes no configuration", "leave one"),
        (CLEAN, ["--profile", "strickt"], "strickt", "lint-crd --help"),
        ("a: 1\n", [], "no CRD found in crd.yaml", "--allow-empty"),
        ("{{ if .x }}\n", [], "no CRD found in crd.yaml: crd.yaml:1 is no whole one (template)", "helm template"),
        ("{{ if .x }}\n---\n{{ .y }}\n", [], "crd.yaml:1 and 1 more are no whole ones (template)", "helm template"),
    ],
)
def test_what_it_can_not_do_exits_2(  # noqa: PLR0917
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, options: list[str], message: str, hint: str
) -> None:
    """A wrong option, or nothing to check, is never a success; one line says why, one the way out."""
    (folder / "crd.yaml").write_text(content)
    assert run(["lint-crd", "crd.yaml", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    error, way_out = captured.err.splitlines()
    assert message in error
    assert hint in way_out


def test_missing_paths_exit_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path is named, and what may have been meant, or else where it was looked for."""
    (folder / "config").mkdir()
    (folder / "config" / "widgets.yaml").write_text(CLEAN)
    for path, way_out in {
        "absent.yaml": f"it is looked for from {folder}",
        "config/widget.yaml": "did you mean config/widgets.yaml?",
        "none/widgets.yaml": "it is looked for",
    }.items():
        assert run(["lint-crd", path]) == 2
        shown = capsys.readouterr().err
        assert f"{path}: can't be read: No such file" in shown
        assert way_out in shown


def test_a_link_to_nowhere_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is there, so that another name is not what was meant."""
    (folder / "crd.yaml").symlink_to("gone.yaml")
    assert run(["lint-crd", "."]) == 2
    assert "hint: it is a link, and what it leads to is not there" in capsys.readouterr().err


def test_an_empty_path_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """An unset variable of a script is not taken for a folder."""
    assert run(["lint-crd", ""]) == 2
    assert "error: one of the paths is empty" in capsys.readouterr().err


def test_pipes_in_a_folder_are_passed_by(folder: Path) -> None:
    """A named pipe with a manifest's name does not hold up the run."""
    (folder / "crd.yaml").write_text(CLEAN)
    os.mkfifo(folder / "pipe.yaml")
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", ".", *ONLY]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "1 CRD in 1 file checked by 1 rule: no findings\n")


def test_a_locked_folder_is_no_empty_one(folder: Path) -> None:
    """What can't be looked into must not read as a success."""
    (folder / "crd.yaml").write_text(CLEAN)
    (folder / "locked").mkdir(mode=0)
    open_to_others(folder)
    folder.chmod(0o755)
    code = f"""
from pyopscaffold.cli.app import run
run(["lint-crd", "crd.yaml", "absent.yaml"])  # so that late imports are done
{DROP}
raise SystemExit(run(["lint-crd", "."]) + run(["lint-crd", "locked/crd.yaml"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2 + 2, done.stderr
    assert "locked: can't be read: Permission denied" in done.stderr
    assert "locked/crd.yaml: can't be read: Permission denied" in done.stderr
