from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.dev.changes import Changes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a folder with a package of two modules, and a file beside it."""
    (tmp_path / "shop" / "api").mkdir(parents=True)
    for name in ("shop/a.py", "shop/api/b.py", "PROJECT", "README.md"):
        (tmp_path / name).write_text("")
    return tmp_path


async def test_edits_new_files_and_removals_are_one_change(project: Path) -> None:
    """Everything that happened until the files settled comes in one set."""
    changes = Changes(project, ("shop", "PROJECT"))
    (project / "shop/a.py").write_text("x = 1")
    (project / "shop/c.py").write_text("")
    (project / "shop/api/b.py").unlink()
    async with asyncio.timeout(10):
        assert await changes.next() == {"shop/a.py", "shop/c.py", "shop/api/b.py"}


async def test_what_is_no_change(project: Path) -> None:
    """Compiled code, editors' files, files that nobody asked about, and those just generated are passed over."""
    changes = Changes(project, ("shop", "PROJECT", "not-there"))
    (project / "shop/__pycache__").mkdir()
    for name in ("shop/__pycache__/a.pyc", "shop/.a.py.swp", "README.md", "PROJECT"):
        (project / name).write_text("changed")
    changes.accept(["PROJECT"])
    (project / "shop/a.py").write_text("x = 1")
    async with asyncio.timeout(10):
        assert await changes.next() == {"shop/a.py"}
