"""Child processes that never outlive this one: the parent's side of ``supervisor.py``."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SOCKET_PATH_BYTES = 90
"""A Unix socket's path is at most 104 bytes on macOS; this leaves room for its name."""


class Children:
    """Programs and a private folder that all go when this object is closed or this process ends, however it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = 0
        try:
            with _signals_held():  # one in between would leave a folder and a supervisor that nobody waits for
                self.directory = private_folder()
                arguments = [os.fspath(_SUPERVISOR), str(os.getpid()), os.fspath(self.directory)]
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-I", "-S", *arguments],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                    cwd="/",
                )
        except (KeyboardInterrupt, SystemExit):
            self.close()
            raise

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
            with suppress(ProcessLookupError):
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


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let what would end this process wait until the block is through; only the main thread hears of it anyway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in ours:
        signal.signal(number, lambda *arguments: held.append(arguments))
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    for received, frame in held[:1]:
        ours[signal.Signals(received)](received, frame)


def private_folder() -> Path:
    """Make a temporary folder for this user alone, with a path short enough for Unix sockets in it."""
    folder = Path(tempfile.mkdtemp(prefix="pyopscaffold-"))
    if len(os.fsencode(folder)) > _SOCKET_PATH_BYTES:
        folder.rmdir()
        folder = Path(tempfile.mkdtemp(prefix="pyopscaffold-", dir="/tmp"))
    return folder
