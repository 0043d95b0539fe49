"""Which files of a project have changed: by looking, several times a second.

A look at 500 files takes a few milliseconds, so no library that asks the kernel is worth its install.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Stamp = tuple[int, int]
    """Modification time in nanoseconds, and size."""
    Snapshot = dict[str, Stamp]
    """By path relative to the project, with forward slashes."""

_LOOK_SECONDS = 0.2
_SETTLE_SECONDS = 0.05
_NOT_OURS = ("__pycache__", ".")
"""Folders and files that start with these: compiled code, and what editors keep beside a file."""


class Changes:
    """Looks at the files of ``names`` (files and folders) under ``root``."""

    def __init__(self, root: Path, names: Iterable[str]) -> None:
        self._root = root
        self._names = tuple(names)
        self._seen = self.snapshot()

    def snapshot(self) -> Snapshot:
        """Look once."""
        found: Snapshot = {}
        for name in self._names:
            for path, stamp in _stamps(os.path.join(self._root, name)):  # noqa: PTH118 - pathlib is five times as slow
                found[path.removeprefix(f"{self._root}{os.sep}")] = stamp
        return found

    def accept(self, paths: Iterable[str]) -> None:
        """Take the files at ``paths`` as they are now: whoever asks wrote them."""
        now = self.snapshot()
        for path in paths:
            self._seen.pop(path, None)
            if path in now:
                self._seen[path] = now[path]

    async def next(self) -> set[str]:
        """Wait for changes, until they have settled, and give the paths that changed, came or went."""
        while (now := self.snapshot()) == self._seen:  # noqa: ASYNC110 - files set no event
            await asyncio.sleep(_LOOK_SECONDS)
        while True:  # an editor that saves five files is one change
            await asyncio.sleep(_SETTLE_SECONDS)
            if (later := self.snapshot()) == now:
                break
            now = later
        changed = {path for path in now.keys() | self._seen.keys() if now.get(path) != self._seen.get(path)}
        self._seen = now
        return changed


def _stamps(path: str) -> Iterator[tuple[str, Stamp]]:
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.name.startswith(_NOT_OURS):
                    yield from _entry(entry)
    except NotADirectoryError:
        about = os.stat(path)  # noqa: PTH116 - as above
        yield path, (about.st_mtime_ns, about.st_size)
    except FileNotFoundError:
        return  # it went while we looked


def _entry(entry: os.DirEntry[str]) -> Iterator[tuple[str, Stamp]]:
    if entry.is_dir():
        yield from _stamps(entry.path)
        return
    try:
        about = entry.stat()
    except FileNotFoundError:
        return
    yield entry.path, (about.st_mtime_ns, about.st_size)
