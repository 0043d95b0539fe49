"""The texts of a project's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def texts(root: Path, patterns: Iterable[str]) -> dict[str, str]:
    """Return the text of every file under ``root`` that matches a glob pattern, by relative path.

    Files that are no UTF-8 text, or can't be read, are left out: whoever wants to write them will say so.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            try:
                found[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
    return found
