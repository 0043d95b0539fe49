"""The operator as a child process: its lines as they come, its end noticed, started again after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from typing import TYPE_CHECKING, Self

from pyopscaffold.testing.children import Children

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

_NAME = "operator"
_DRAIN_SECONDS = 10.0
_FIRST_DELAY, _LONGEST_DELAY = 1.0, 30.0
_LAST_LINES = 5
_CHUNK = 65536
# The supervisor knows no working folder; `exec` keeps the process id, so signals meet Python itself.
_IN_FOLDER = ("/bin/sh", "-c", 'cd "$0" && exec "$@"')


class Operator:
    """Runs ``command`` in ``folder``; a context manager, after which no process of it is left, however we end.

    ``on_line`` gets every line that it prints, in the event loop.
    """

    def __init__(self, folder: Path, *, on_line: Callable[[str], None]) -> None:
        self._folder = folder
        self._on_line = on_line
        self._command: tuple[str, ...] = ()
        self._running = False
        self._delay = _FIRST_DELAY
        self._due: float | None = None
        self._lock = asyncio.Lock()
        self._buffer = b""
        self.last_lines: deque[str] = deque(maxlen=_LAST_LINES)

    def __enter__(self) -> Self:
        self._children = Children()
        self._pipe = self.directory / "output"
        os.mkfifo(self._pipe, 0o600)
        self._read = os.open(self._pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._write = os.open(self._pipe, os.O_WRONLY)  # held, so that there is no end between two operators
        asyncio.get_running_loop().add_reader(self._read, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._read)
        self._children.close()
        self._receive()
        os.close(self._write)
        os.close(self._read)

    @property
    def directory(self) -> Path:
        """A private folder that goes with it."""
        return self._children.directory

    @property
    def running(self) -> bool:
        """Whether it was started and has not been seen to end."""
        return self._running

    async def restart(self, command: Sequence[str]) -> None:
        """Let the present one drain and end, then start ``command``."""
        async with self._lock:
            await self._stop()
            self._command, self._delay = tuple(command), _FIRST_DELAY
            await self._start()

    async def stop(self) -> None:
        """Let it drain and end."""
        async with self._lock:
            await self._stop()

    async def look(self) -> int | None:
        """Give the exit code if it has just ended by itself; start it again when that is due."""
        async with self._lock:
            if self._running:
                code = await asyncio.to_thread(self._children.exit_code, _NAME)
                if code is None:
                    return None
                self._running = False
                self._due = time.monotonic() + self._delay
                return code
            if self._due is not None and time.monotonic() >= self._due:
                self._delay = min(self._delay * 2, _LONGEST_DELAY)
                await self._start()
            return None

    @property
    def delay(self) -> float:
        """Seconds from a crash to the next start."""
        return self._delay

    async def _start(self) -> None:
        command = [*_IN_FOLDER, str(self._folder), *self._command]
        self.last_lines.clear()
        self._due = None
        await asyncio.to_thread(self._children.start, _NAME, command, log=self._pipe)
        self._running = True

    async def _stop(self) -> None:
        self._due = None
        if self._running:
            self._running = False
            await asyncio.to_thread(self._children.stop, _NAME, grace=_DRAIN_SECONDS)

    def _receive(self) -> None:
        chunk = b""
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._read, _CHUNK)
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            self.last_lines.append(text)
            self._on_line(text)
