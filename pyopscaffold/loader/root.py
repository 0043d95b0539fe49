"""Where a project is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import ProjectError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "PROJECT"
"""What the file is called that makes a folder a project."""


def find_root(start: Path) -> Path:
    """Return the nearest folder at or above ``start`` that has a PROJECT file.

    Raises:
        ProjectError: there is none.

    """
    for folder in (start, *start.parents):
        if (folder / NAME).is_file():
            return folder
    raise ProjectError(
        f"{start} is not inside a project: there is no {NAME} file in it or above",
        hint="change into your project's folder, or start one in an empty folder: pyopscaffold init --domain DOMAIN",
    )
