"""The only writer: a plan is written as a whole or not at all.

Every new text goes into a temporary file beside its target first (so a full disk shows before anything has changed),
then all are renamed into place. The way to undo a step is on the journal *before* the step is done, and is harmless
where it was not done yet: so Ctrl-C between any two instructions leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import stat
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import FilesError
from pyopscaffold.files.plan import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from pyopscaffold.files.plan import Plan

_HINTS = {
    errno.ENOSPC: "make room on the disk and try again",
    errno.EDQUOT: "make room on the disk and try again",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f) and try again",
    errno.EACCES: "make the folder writable for you and try again",
    errno.EPERM: "make the folder writable for you and try again",
    errno.EROFS: "the file system is mounted read-only; work in another folder",
}


def apply(plan: Plan) -> None:
    """Write ``plan``, atomically as a whole.

    Raises:
        FilesError: a file could not be written; the tree is as it was before.

    """
    transaction = _Transaction(plan.root)
    with _termination_raises():
        try:
            staged = [transaction.stage(change) for change in plan.writes]
            for step in staged:
                transaction.commit(step)
            with _undisturbed():
                transaction.finish()
        except BaseException as error:
            with _undisturbed():
                transaction.undo()
            if isinstance(error, OSError):
                raise _explained(error, transaction.path) from error
            raise


@dataclass(frozen=True)
class _Step:
    """One file whose new text lies in ``new`` and whose old one is also held as ``old``, both beside ``target``."""

    change: Change
    target: Path
    new: Path
    old: Path


class _Transaction:
    def __init__(self, root: Path) -> None:
        self.path = ""
        """The path in work, for messages."""
        self._root = root
        self._token = os.urandom(4).hex()
        self._journal: list[Callable[[], object]] = []
        self._temporaries: list[Path] = []

    def stage(self, change: Change) -> _Step:
        self.path = change.path
        # A link inside the root (the plan has refused others) stays a link: what it points to is replaced.
        target = (self._root / change.path).resolve()
        if change.before is None and target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        self._make_folders(target.parent)
        step = _Step(change, target, self._temporary(target, "new"), self._temporary(target, "old"))
        if change.before is not None:
            _hold(target, step.old)
        if change.after is not None:
            _write(step.new, change.after, mode=_mode(step), executable=change.executable)
        return step

    def commit(self, step: _Step) -> None:
        self.path = step.change.path
        if step.change.before is None:
            self._journal.append(partial(step.target.unlink, missing_ok=True))
        else:
            # Renaming one hard link onto another of the same file does nothing: right where it was not replaced yet.
            self._journal.append(partial(step.old.replace, step.target))
        if step.change.after is None:
            step.target.unlink()
        else:
            step.new.replace(step.target)

    def undo(self) -> None:
        for step in reversed(self._journal):
            with contextlib.suppress(OSError):
                step()

    def finish(self) -> None:
        for path in self._temporaries:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        self._journal.clear()  # from here on there is nothing to undo

    def _make_folders(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            self._journal.append(path.rmdir)
            path.mkdir()

    def _temporary(self, target: Path, suffix: str) -> Path:
        path = target.with_name(f".{target.name}.{self._token}.{suffix}")
        self._journal.append(partial(path.unlink, missing_ok=True))
        self._temporaries.append(path)
        return path


def _hold(target: Path, old: Path) -> None:
    """Keep the file that stands at ``target`` as ``old`` too; a copy where the file system has no hard links."""
    try:
        old.hardlink_to(target)
    except OSError:
        shutil.copy2(target, old)


def _mode(step: _Step) -> int | None:
    """Permissions of the new file: those of the old one; None leaves them to the umask."""
    return None if step.change.before is None else stat.S_IMODE(step.target.stat().st_mode)


def _write(path: Path, text: str, *, mode: int | None, executable: bool) -> None:
    with path.open("xb") as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
    mode = stat.S_IMODE(path.stat().st_mode) if mode is None else mode
    path.chmod(mode | ((mode & 0o444) >> 2 if executable else 0))


def _explained(error: OSError, path: str) -> FilesError:
    reason = (error.strerror or str(error)).lower()
    hint = _HINTS.get(error.errno or 0)
    return FilesError(f"{path} can't be written: {reason}; nothing was changed", hint=hint)


@contextlib.contextmanager
def _termination_raises() -> Iterator[None]:
    """Let SIGTERM unwind the stack as SIGINT does, so that it too is rolled back."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with _handling(stop, signal.SIGTERM):
        yield


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no second Ctrl-C break off the way back."""
    with _handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
        yield


@contextlib.contextmanager
def _handling(handler: Callable[[int, FrameType | None], object] | signal.Handlers, *signals: int) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals, and only it may set handlers
        return
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
