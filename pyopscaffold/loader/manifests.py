"""Finds and reads manifests: files, folders and standard input become sources."""

from __future__ import annotations

import os
import stat
import sys
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import DocumentError
from pyopscaffold.kube.names import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN = "-"
MAX_SIZE = 32_000_000  # bytes; all CRDs of a large cluster in one List have about 20 MB
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_NEVER_MANIFESTS = frozenset({"node_modules", "site-packages", "__pycache__"})


def load_sources(paths: Iterable[str], *, excluded: Callable[[str], bool] = lambda _: False) -> Iterator[Source]:
    """Read what ``paths`` name, see :func:`find` and :func:`read`.

    Raises:
        DocumentError: a path is empty or not there, or can't be read.

    """
    return map(read, find(paths, excluded=excluded))


def find(paths: Iterable[str], *, excluded: Callable[[str], bool] = lambda _: False) -> Iterator[str]:
    """Name what there is to read, each file once: files of any name, folders' YAML and JSON files, ``-`` for stdin.

    Folders are walked in alphabetical order; hidden ones, ones of installed packages, and what is ``excluded`` are
    left out.

    Raises:
        DocumentError: a path is empty, or a folder can't be looked into.

    """
    seen: set[str] = set()
    for path in paths:
        for file in _expand(path, excluded):
            identity = file if file == STDIN else os.path.realpath(file)
            if identity not in seen:
                seen.add(identity)
                yield file


def _expand(path: str, excluded: Callable[[str], bool]) -> Iterator[str]:
    if not path:
        raise DocumentError(
            "one of the paths is empty", hint="name files or folders; is a variable of your shell unset?"
        )
    if path == STDIN or not os.path.isdir(path):  # noqa: PTH112 - os.walk keeps the spelling of the user's path
        yield path
        return
    for folder, folders, files in os.walk(path, onerror=_refuse):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _NEVER_MANIFESTS and not excluded(os.path.join(folder, name))  # noqa: PTH118 - as above
        )
        for name in sorted(files):
            file = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 - as above
            if is_manifest(name) and not _blocks(file) and not excluded(file):
                yield file


def is_manifest(file: str) -> bool:
    """Whether a file in a folder may hold manifests, by its name; ``.#x.yaml`` is the lock of an editor that has x."""
    path = Path(file)
    return path.suffix.lower() in _SUFFIXES and not path.name.startswith(".#")


def _blocks(file: str) -> bool:
    """Whether reading ``file`` would wait for somebody to write: a pipe, socket or device found on the way."""
    try:
        return not stat.S_ISREG(os.stat(file).st_mode)  # noqa: PTH116 - as above
    except OSError:
        return False  # reading it tells why


def _refuse(error: OSError) -> None:
    raise DocumentError(f"{error.filename}: can't be read: {error.strerror or error}") from error


def read(file: str) -> Source:
    """Read one file, or standard input.

    What is no text, or too much of it, is for the reader of documents to tell.

    Raises:
        DocumentError: it is not there, or can't be read.

    """
    name = "<stdin>" if file == STDIN else file
    try:
        raw = _read_some(sys.stdin.buffer if file == STDIN else Path(file))
    except OSError as error:
        hint = _like(file) if isinstance(error, FileNotFoundError) else None
        raise DocumentError(f"{name}: can't be read: {error.strerror or error}", hint=hint) from error
    if len(raw) > MAX_SIZE:
        return Source(name, "", f"larger than {MAX_SIZE // 1_000_000} MB: no manifest is")
    return Source(name, raw.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape"))


def _like(file: str) -> str:
    """Say what may have been meant by the name of a file that is not there."""
    folder, name = os.path.split(file)
    try:
        near = nearest(name, os.listdir(folder or os.curdir))  # noqa: PTH208 - as above
    except OSError:
        near = ""
    if near == name:
        return "it is a link, and what it leads to is not there"
    return f"did you mean {os.path.join(folder, near)}?" if near else f"it is looked for from {os.getcwd()}"  # noqa: PTH109, PTH118


def _read_some(place: BinaryIO | Path) -> bytes:
    """Read as much as a manifest may have, and a byte more where there is more."""
    if not isinstance(place, Path):
        return place.read(MAX_SIZE + 1)
    with place.open("rb") as file:
        return file.read(MAX_SIZE + 1)
