"""Make examples/mydatabase anew with today's tool and templates, keeping what its user edited: ``make examples``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
EXAMPLE = EXAMPLES / "mydatabase"

EDITED = (
    "mydatabase/api/v1/my_database.py",
    "mydatabase/controllers/my_database.py",
    "tests/test_my_database.py",
)
"""What the user changed after ``init`` and ``create api``."""

BY_PRODUCTS = {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "uv.lock", "dist"}


def make(project: Path) -> None:
    """Make the example in an empty folder beside it, so that relative paths come out alike."""
    _tool(project, "init", "--domain", "example.com", "--project-name", "mydatabase")
    _tool(project, "create", "api", "--group", "", "--version", "v1", "--kind", "MyDatabase")
    for path in EDITED:
        if not (project / path).is_file():
            raise SystemExit(f"error: the scaffold makes no {path}: it can't be an edit")
        shutil.copy(EXAMPLE / path, project / path)
    _tool(project, "generate")


def tree(root: Path) -> dict[str, str]:
    """Read all files under a folder, but what running leaves."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    kept = (path for path in files if not BY_PRODUCTS & set(path.relative_to(root).parts))
    return {path.relative_to(root).as_posix(): path.read_text() for path in kept}


def _tool(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "pyopscaffold", *arguments]
    environment = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": sys.prefix}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=EXAMPLES, prefix=".remade-") as made:
        make(Path(made))
        shutil.rmtree(EXAMPLE)
        shutil.copytree(made, EXAMPLE)
