"""Checking by several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.cli.app import run as run_command
from pyopscaffold.cli.console import Progress
from pyopscaffold.document.reader import Source
from pyopscaffold.errors import DocumentError
from pyopscaffold.lint.config import Config
from pyopscaffold.lint.example import spec
from pyopscaffold.lint.library import rules
from pyopscaffold.lint.ruleset import Ruleset
from pyopscaffold.lint.workers import run
from pyopscaffold.testing import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

DIRTY = spec("name: {type: string}")
LARGE = spec("\n".join(f"f{n:05}: {{type: string, description: Text.}}" for n in range(20_000)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with files of all kinds."""
    for number in range(6):
        (tmp_path / f"{number}.yaml").write_text(DIRTY.replace("idget", f"idget{number}") * (number % 2 + 1))
    (tmp_path / "broken.yaml").write_text("a: [\n")
    (tmp_path / "template.yaml").write_text("{{ if .a }}\n")
    return tmp_path


def test_several_processes_find_the_same(folder: Path) -> None:
    """The report is the same, in the same order, with suppressions and configuration; texts are checked too."""
    ruleset = Ruleset(rules(), Config(profile="strict", ignore=("UX",)))
    items: list[str | Source] = [
        *map(str, sorted(folder.iterdir())),
        Source("text", DIRTY + "# lint-crd: ignore[VA01]\n"),
    ]
    told: list[tuple[int, int]] = []
    report = run(items, ruleset, jobs=3, tell=lambda *numbers: told.append(numbers))
    assert report == run(items, ruleset)
    assert len({finding.file for finding in report.findings}) == 9
    assert told == [(done, 9) for done in range(9)]


def test_what_can_not_be_read_is_told(folder: Path) -> None:
    """The error of a worker is the command's."""
    items = [*map(str, folder.iterdir()), str(folder / "absent.yaml")]
    with pytest.raises(DocumentError, match=r"absent\.yaml: can't be read: No such file"):
        run(items, Ruleset(rules()), jobs=2)


def test_small_runs_start_no_process(folder: Path) -> None:
    """What takes less time than starting a worker is checked right here: its modules are not even loaded."""
    code = (
        "import sys\nfrom pyopscaffold.cli.app import run\nrun(sys.argv[1:])\n"
        "sys.exit(any(name.startswith(('multiprocessing', 'concurrent', 'importlib.metadata', 'msgspec'))"
        " for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, "lint-crd", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "VA01" in done.stdout


def test_workers_can_be_started_anew(folder: Path) -> None:
    """Where a process can't be forked, workers read the rules for themselves."""
    script = folder / "script.py"
    script.write_text(
        "import multiprocessing, sys\n"
        "from pyopscaffold.lint import Config, lint, workers\n"
        "if __name__ == '__main__':\n"
        "    workers._context = lambda: multiprocessing.get_context('spawn')\n"
        "    config = Config(select=('VA01',), rules={})\n"
        "    one, two = (lint([sys.argv[1]], config=config, jobs=jobs) for jobs in (1, 2))\n"
        "    assert one.findings == two.findings and len(one.findings) == 6, (one, two)\n"
    )
    done = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run that takes seconds, in a process group of its own, and give it when its workers are there."""
    for number in range(8):
        (tmp_path / f"{number}.yaml").write_text(LARGE.replace("idget", f"idget{number}"))
    command = [sys.executable, "-m", "pyopscaffold", "lint-crd", str(tmp_path), "--jobs", "2"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path
    )
    with process:
        eventually(lambda: len(children(process.pid)) == 2, within=60)
        yield process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
@pytest.mark.parametrize("everybody", [True, False])
def test_an_interrupt_ends_all_without_a_word(busy: subprocess.Popen[str], everybody: bool) -> None:
    """Ctrl-C reaches the whole group, kill -INT the command alone: either way nobody is left, and no traceback."""
    workers = children(busy.pid)
    (os.killpg if everybody else os.kill)(busy.pid, signal.SIGINT)
    out, err = busy.communicate(timeout=60)
    assert (busy.returncode, out, err) == (130, "", "interrupted\n")
    eventually(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), within=60)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked there alone")
def test_an_interrupt_amid_a_fork_is_not_lost(tmp_path: Path) -> None:
    """Python passes over what is raised in its hooks around a fork: Ctrl-C at that moment waits for the end of it."""
    for number in range(2):
        (tmp_path / f"{number}.yaml").write_text(spec("name: {type: string}"))
    code = (
        "import os, signal, sys\n"
        "os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "from pyopscaffold.cli.app import main\n"
        "main(['lint-crd', '.', '--jobs', '2'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
def test_a_worker_that_is_killed_is_told(busy: subprocess.Popen[str]) -> None:
    """When memory runs out, the kernel kills one: the run ends with a way out, and does not wait for ever."""
    os.kill(children(busy.pid)[0], signal.SIGKILL)
    _, err = busy.communicate(timeout=60)
    assert busy.returncode == 2
    assert err == "error: a worker was killed; is there too little memory? --jobs 1 does without\n"


def test_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Only after a second, not too often, and gone at the end."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    seconds = iter([0, 0.9, 1.1, 1.1, 1.15, 1.3, 1.3])
    with Progress("files", clock=lambda: next(seconds)) as progress:
        for done in range(4):
            progress.tell(done, 9)
    assert capsys.readouterr().err == "\r1 of 9 files\x1b[K\r3 of 9 files\x1b[K\r\x1b[K"


def test_a_pipe_shows_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor does a run that is over soon."""
    with Progress("files", clock=iter(range(0, 900, 100)).__next__) as progress:
        progress.tell(1, 9)
    assert capsys.readouterr().err == ""


def test_jobs_are_no_negative_number(capsys: pytest.CaptureFixture[str]) -> None:
    """The command's own parser refuses it."""
    assert run_command(["lint-crd", ".", "--jobs", "-1"]) == 2
    assert "jobs" in capsys.readouterr().err
