"""Child processes that never outlive this one: the parent's side of ``supervisor.py``."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SOCKET_PATH_BYTES = 90
"""A Unix socket's path is at most 104 bytes on macOS; this leaves room for its name."""


class Children:
    """Programs and a private folder that all go when this object is closed or this process ends, however it ends."""

    def __init__(self) -> None:
        self.directory = private_folder()
        command = [sys.executable, "-I", "-S", os.fspath(_SUPERVISOR), str(os.getpid()), os.fspath(self.directory)]
        self._supervisor = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd="/"
        )
        self._lock = threading.Lock()
        self._started = 0

    def start(self, name: str, command: Sequence[str], *, log: Path) -> int:
        """Start ``command`` with all its output appended to ``log``; give its process id."""
        answer = self._ask("start", name, list(command), os.fspath(log))
        if "error" in answer:
            raise EnvtestError(f"{name} does not start: {answer['error']}")
        self._started += 1
        return int(answer["pid"] or 0)

    def exit_code(self, name: str) -> int | None:
        """None while ``name`` runs; a signal's number is negative."""
        return self._ask("status", name)["code"]

    def stop(self, name: str, *, grace: float) -> None:
        """End ``name`` by TERM, after ``grace`` seconds by KILL."""
        self._ask("stop", name, grace)

    def close(self) -> None:
        """Stop everything, the newest first, and remove the folder."""
        supervisor = self._supervisor
        with self._lock:
            for pipe in (supervisor.stdin, supervisor.stdout):
                if pipe is not None:
                    pipe.close()
        try:
            supervisor.wait(10 + 10 * self._started)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(supervisor.pid, signal.SIGKILL)
            supervisor.wait()
            shutil.rmtree(self.directory, ignore_errors=True)

    def _ask(self, *command: object) -> dict[str, int | None]:
        stdin, stdout = self._supervisor.stdin, self._supervisor.stdout
        with self._lock:
            try:
                if stdin is None or stdout is None:
                    raise BrokenPipeError
                stdin.write(json.dumps(command).encode() + b"\n")
                stdin.flush()
                answer: dict[str, int | None] = json.loads(stdout.readline())
            except (OSError, ValueError) as error:
                raise EnvtestError("the control plane was stopped from outside", hint="start it again") from error
        return answer


def private_folder() -> Path:
    """Make a temporary folder for this user alone, with a path short enough for Unix sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="pyopscaffold-"))
    if len(os.fsencode(folder)) > _SOCKET_PATH_BYTES:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="pyopscaffold-", dir="/tmp"))
    return folder
