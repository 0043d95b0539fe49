"""Where a project is."""

from __future__ import annotations

from pathlib import Path

from pyopscaffold.errors import ProjectError
from pyopscaffold.loader import early


def find_root(start: Path) -> Path:
    """Return the nearest folder at or above ``start`` that has a PROJECT file.

    Raises:
        ProjectError: there is none.

    """
    if found := early.root_of(str(start)):
        return Path(found)
    raise ProjectError(
        f"{start} is not inside a project: there is no {early.PROJECT} file in it or above",
        hint="change into your project's folder, or start one in an empty folder: pyopscaffold init --domain DOMAIN",
    )
