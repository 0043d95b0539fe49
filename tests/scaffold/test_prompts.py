"""Questions, which are asked on a terminal only."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pyopscaffold.loader.project import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scaffold.conftest import Folder


CLAIM = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Take stdin as the controlling terminal, so that Ctrl-C typed there is a signal; then become another program."""


class Dialogue:
    """A program on a terminal."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self._terminal = terminal
        self._process = process
        self._shown = b""

    def answer(self, question: str, text: str) -> None:
        """Wait for the question, and type the answer."""
        while question.encode() not in self._shown:
            self._read()
        self._shown = b""
        os.write(self._terminal, text.encode())

    def end(self) -> int:
        """Read the rest, and give the exit code."""
        try:
            while self._read():
                pass
        except OSError:  # what Linux gives at the end of a terminal
            pass
        return self._process.wait(timeout=30)

    def interrupt(self) -> int:
        """Press Ctrl-C, and give the exit code.

        C's reading of a line misses a signal that comes in the moment before it begins to wait: then press again.
        """
        while True:
            os.write(self._terminal, b"\x03")
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(timeout=5)

    def _read(self) -> bytes:
        more = os.read(self._terminal, 4096)
        self._shown += more
        return more


@contextmanager
def on_a_terminal(folder: Folder, *args: str) -> Iterator[Dialogue]:
    """Start the program on a new terminal, which Ctrl-C is typed into as into any."""
    terminal, side = pty.openpty()
    command = [sys.executable, "-m", "pyopscaffold", *args]
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIM, *command], cwd=folder.path, stdin=side, stdout=side, stderr=side
    )
    os.close(side)
    try:
        yield Dialogue(terminal, process)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def test_init_asks_for_the_domain(folder: Folder) -> None:
    """A domain that was not given is asked for."""
    with on_a_terminal(folder, "init") as dialogue:
        dialogue.answer("Domain", "example.com\n")
        assert dialogue.end() == 0
    assert read(folder.path).domain == "example.com"


def test_create_api_asks_for_what_is_missing(project: Folder) -> None:
    """Group and version have defaults; what was given is not asked for."""
    with on_a_terminal(project, "create", "api", "--group", "db") as dialogue:
        dialogue.answer("Version [v1]", "\n")
        dialogue.answer("Kind", "MyDatabase\n")
        assert dialogue.end() == 0
    assert [str(one.gvk.group_kind) for one in read(project.path).resources] == ["MyDatabase.db.example.com"]


def test_ctrl_c_at_a_question(folder: Folder) -> None:
    """Whoever changes their mind leaves an empty folder."""
    with on_a_terminal(folder, "init") as dialogue:
        dialogue.answer("Domain", "")
        assert dialogue.interrupt() == 130
    assert folder.entries() == set()
