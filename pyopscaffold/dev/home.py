"""Where a project's embedded cluster is kept between runs, and the lock on it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries import store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KUBECONFIG = "kubeconfig"
_DATA = "data"
_LOCK = "lock"
_PORT = "port"
_DIGITS = 8


def folder_of(root: Path) -> Path:
    """Return the folder for the project at ``root``, below the user's caches; another place is another cluster."""
    place = root.resolve()
    digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:_DIGITS]
    return store.root().parent / "dev" / f"{place.name}-{digest}"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the only right to run a cluster in ``folder``, which is made if need be; the kernel ends a dead holder's.

    Raises:
        EnvtestError: another process holds it, or the folder can't be written.

    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (folder / _LOCK).open("a+")
    except OSError as error:
        raise EnvtestError(
            f"can't keep a cluster in {folder}: {error.strerror}", hint="let XDG_CACHE_HOME name a folder to write to"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise EnvtestError(
                f"this project's cluster is in use by another pyopscaffold dev (process {file.read().strip()})",
                hint=f"end that one, or look at its cluster: export KUBECONFIG={folder / KUBECONFIG}",
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def data(folder: Path, *, fresh: bool) -> Path:
    """Return the folder of the cluster's data; with ``fresh``, emptied."""
    kept = folder / _DATA
    if fresh:
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(mode=0o700, exist_ok=True)
    return kept


def last_port(folder: Path) -> int | None:
    """Return the port that the cluster had, if it had one."""
    path = folder / _PORT
    text = path.read_text().strip() if path.exists() else ""
    return int(text) if text.isdigit() else None


def remember_port(folder: Path, port: int) -> None:
    """Have the next run use ``port`` too."""
    (folder / _PORT).write_text(f"{port}\n")
