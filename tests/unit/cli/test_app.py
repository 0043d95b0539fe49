"""The command line as a whole: help, versions, and how errors look."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import __version__
from pyopscaffold.cli import app
from pyopscaffold.errors import CodecError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "pyopscaffold"]


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help_lists_the_verbs(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without arguments the program says what it can do."""
    assert app.run(args) == 0
    out, err = capsys.readouterr()
    for verb in app.VERBS:
        assert f"\n  {verb.strip('_').replace('_', '-')} " in out
    assert err == ""


def test_help_is_cheap() -> None:
    """Help loads neither what renders rich text nor what commands work with."""
    code = "import sys; from pyopscaffold.cli.app import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert not loaded & {"rich", "copier", "jinja2", "ruamel.yaml", "aiohttp", "msgspec", "yaml"}


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    """The version is told in three forms."""
    for args in (["--version"], ["version"], ["version", "--output", "json"]):
        assert app.run(args) == 0
    short, long, *lines = capsys.readouterr().out.splitlines()
    assert short == f"pyopscaffold {__version__}"
    assert long.startswith(f"pyopscaffold {__version__} (Python ")
    assert json.loads("".join(lines))["version"] == __version__


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each shell gets a script that asks the program."""
    assert app.run(["completion", shell]) == 0
    assert "_PYOPSCAFFOLD_COMPLETE" in capsys.readouterr().out


def test_completion_answers() -> None:
    """The shell's question for words is answered."""
    question = {"_PYOPSCAFFOLD_COMPLETE": "complete_bash", "COMP_WORDS": "pyopscaffold ver", "COMP_CWORD": "1"}
    done = subprocess.run(PROGRAM, env=os.environ | question, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["version"]


@pytest.mark.parametrize(
    ("args", "error", "hint"),
    [
        (["inti"], "no such command 'inti'. Did you mean 'init'?", "see pyopscaffold --help"),
        (["frobnicate"], "no such command 'frobnicate'", "see pyopscaffold --help"),
        (["create", "apo"], "no such command 'apo'. Did you mean 'api'?", "see pyopscaffold create --help"),
        (["create"], "missing command", "see pyopscaffold create --help"),
        (["envtest"], "missing command", "see pyopscaffold envtest --help"),
        (["init", "--domian", "x"], "no such option: --domian", "did you mean --domain?"),
        (["--frobnicate"], "no such option: --frobnicate", "see pyopscaffold --help"),
        (["init", "extra"], "got unexpected extra argument(s) (extra)", "see pyopscaffold init --help"),
        (
            ["init", "--license", "gpl"],
            "invalid value for '--license': 'gpl' is not one of 'apache2', 'mit', 'none'",
            "see pyopscaffold init --help",
        ),
        (
            ["create", "api", "--resource=false"],
            "--resource takes no value",
            "write --resource or --no-resource, or leave it out",
        ),
        (
            ["create", "api", "--namespaced=false"],
            "--namespaced takes no value",
            "write --namespaced or --cluster, or leave it out",
        ),
        (["init", "--namespaced=true"], "--namespaced takes no value", "write --namespaced, or leave it out"),
    ],
)
def test_a_wrong_call_is_one_line_and_a_hint(
    args: list[str], error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt command or option is named, with what was meant."""
    assert app.run(args) == 2
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        (UsageError("that is wrong", hint="do this"), "error: that is wrong\nhint: do this\n"),
        (UsageError("that is wrong"), "error: that is wrong\n"),
        (PermissionError(13, "Permission denied", "/a/b"), "error: /a/b: permission denied\n"),
        (OSError(28, "No space left on device"), "error: the output can't be written: no space left on device\n"),
        (
            FileNotFoundError(2, "No such file or directory"),
            "error: the current folder is gone\nhint: change into a folder that is there\n",
        ),
        (CodecError("no number", path="$.spec"), "error: no number\n"),
        (
            ValueError("two\nlines"),
            (
                "error: unexpected ValueError: two\n"
                "hint: this is a bug; set PYOPSCAFFOLD_TRACEBACK=1, try again and report what it shows\n"
            ),
        ),
    ],
)
def test_no_error_shows_a_traceback(
    raised: Exception, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors of ours are shown with their hint, others as a bug to report."""
    monkeypatch.setattr(app, "build_app", lambda _verbs: _raise(raised))
    assert app.run(["version"]) == 2
    assert capsys.readouterr() == ("", shown)


def test_a_traceback_can_be_had(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reports a bug can see where it is."""
    monkeypatch.setenv("PYOPSCAFFOLD_TRACEBACK", "1")
    monkeypatch.setattr(app, "build_app", lambda _verbs: _raise(KeyError("x")))
    assert app.run(["version"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_interruption_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends the command with one word."""
    monkeypatch.setattr(app, "build_app", lambda _verbs: _raise(KeyboardInterrupt()))
    assert app.run(["version"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    """Output into a closed pipe, as of `| head`, ends quietly."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([*PROGRAM, "--help"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert done.stderr == ""


def test_interruption_before_anything_is_imported(tmp_path: Path) -> None:
    """Ctrl-C in the first instant, when the imports are under way, ends as it does later."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*PROGRAM, "version"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_closed_output_is_no_error() -> None:
    """A service manager may start the program without stdout."""
    closed = f"exec {shlex.join(PROGRAM)} version >&-"
    done = subprocess.run(["sh", "-c", closed], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    """Whoever stands in a deleted folder learns it."""
    (tmp_path / "gone").mkdir()
    script = f"cd {tmp_path}/gone && rmdir ../gone && exec {shlex.join(PROGRAM)} generate"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: the current folder is gone")


@pytest.mark.parametrize(("options", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals(options: dict[str, str], coloured: bool, tmp_path: Path) -> None:
    """A terminal gets colours unless NO_COLOR is set; a pipe never does."""
    terminal, side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **options}
    environment.pop("NO_COLOR", None) if coloured else None
    with os.fdopen(terminal, "rb") as output:
        subprocess.run([*PROGRAM, "inti"], stderr=side, env=environment, check=False, cwd=tmp_path)
        os.close(side)
        shown = output.read1()
    assert b"no such command" in shown
    assert (b"\x1b[" in shown) is coloured
    piped = subprocess.run([*PROGRAM, "inti"], capture_output=True, env=environment, check=False, cwd=tmp_path)
    assert b"\x1b[" not in piped.stderr


def test_letters_that_a_terminal_lacks_are_shown_by_number() -> None:
    """What a rule, a diff or a file's name has in it need not be in the encoding of the locale."""
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([*PROGRAM, "explain", "CE03"], capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"self.all(x, \u2026)" in done.stdout


def _raise(error: BaseException) -> None:
    raise error
