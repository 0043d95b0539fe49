"""Keep child processes no longer than their parent lives. Run as a script, with the standard library alone.

``python -I -S supervisor.py PARENT_PID FOLDER`` starts programs as it is told on standard input, one JSON list a
line, and answers each with one JSON line:

- ``["start", NAME, [PROGRAM, ARGUMENT…], LOG_FILE]`` answers ``{"pid": 12}`` or ``{"error": "…"}``
- ``["status", NAME]`` answers ``{"code": null}`` while it runs, else ``{"code": 1}``
- ``["stop", NAME, SECONDS]`` sends TERM, after SECONDS also KILL, and answers ``{"code": -15}``

When its input ends, for whatever reason (an ordinary stop, Ctrl-C, SIGKILL of the parent), it stops everything, the
newest first, removes FOLDER and exits. It leads a session of its own, so a terminal's Ctrl-C does not reach it or its
children before the parent has decided.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

GRACE_SECONDS = 5.0
"""How long each program may take to end by itself when everything stops."""

_ORPHAN_CHECK_SECONDS = 1.0


def _commands(parent: int) -> Iterator[list[object]]:
    """Read commands until the input ends or the parent is gone.

    A process that the parent forked can hold the pipe open after the parent's death, so the pipe alone is no proof.
    """
    buffer = b""
    while True:
        ready, _, _ = select.select([0], [], [], _ORPHAN_CHECK_SECONDS)
        if os.getppid() != parent:
            return
        if not ready:
            continue
        chunk = os.read(0, 65536)
        if not chunk:
            return
        *lines, buffer = (buffer + chunk).split(b"\n")
        yield from map(json.loads, lines)


def _stop(process: subprocess.Popen[bytes], seconds: float) -> int:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


def _obey(command: list[object], running: dict[str, subprocess.Popen[bytes]]) -> dict[str, object]:
    match command:
        case ["start", str(name), list(program), str(log)]:
            try:
                with open(log, "ab") as sink:  # noqa: PTH123 - pathlib would double the start-up time
                    process = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
            except OSError as error:
                return {"error": f"{error.strerror}: {error.filename}"}
            running.pop(name, None)  # a program that is started again is the newest
            running[name] = process
            return {"pid": process.pid}
        case ["status", str(name)]:
            return {"code": running[name].poll()}
        case ["stop", str(name), float(seconds) | int(seconds)]:
            return {"code": _stop(running[name], seconds)}
        case _:
            return {"error": f"unknown command {command!r}"}


def _leave(*_signal: object) -> None:
    sys.exit(0)


def main() -> None:
    """Serve commands, then stop everything."""
    parent, folder = int(sys.argv[1]), sys.argv[2]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for command in _commands(parent):
            answer = _obey(command, running)
            os.write(1, json.dumps(answer).encode() + b"\n")
    except BrokenPipeError:
        pass  # the parent died while it waited for the answer
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for process in reversed(running.values()):
            _stop(process, GRACE_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
