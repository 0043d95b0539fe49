"""The texts of a project's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import FilesError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def texts(root: Path, patterns: Iterable[str]) -> dict[str, str]:
    """Return the text of every file under ``root`` that matches a glob pattern, by relative path.

    Line ends are as they stand in the file, and bytes that are no UTF-8 are lone surrogates: whoever edits the text
    says so, and whoever only passes it on changes nothing.

    Raises:
        FilesError: a file can't be read.

    """
    found: dict[str, str] = {}
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            try:
                found[path.relative_to(root).as_posix()] = path.read_bytes().decode("utf-8", "surrogateescape")
            except (FileNotFoundError, IsADirectoryError):
                continue
            except OSError as error:
                place = path.relative_to(root).as_posix()
                raise FilesError(f"{place} can't be read: {error.strerror}") from error
    return found
