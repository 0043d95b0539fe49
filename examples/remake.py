"""Make the examples anew with today's tool and templates, keeping what their users edited: ``make examples``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

BY_PRODUCTS = {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv", "uv.lock", "dist"}


@dataclass(frozen=True)
class Example:
    """A project that was made by ``init`` and ``create api``, and then edited."""

    name: str
    api: tuple[str, ...]
    """Arguments of ``create api``."""
    edited: tuple[str, ...]
    """What the user changed afterwards."""

    @property
    def root(self) -> Path:
        """Where it stands."""
        return FOLDER / self.name

    def make(self, project: Path) -> None:
        """Make it in an empty folder beside it, so that relative paths come out alike."""
        _tool(project, "init", "--domain", "example.com", "--project-name", self.name)
        _tool(project, "create", "api", *self.api)
        for path in self.edited:
            if not (project / path).is_file():
                raise SystemExit(f"error: the scaffold makes no {path}: it can't be an edit")
            shutil.copy(self.root / path, project / path)
        _tool(project, "generate")
        _tool(project, "generate", "docs")


def _edited(package: str, module: str) -> tuple[str, ...]:
    """Name the types, the reconciler and the tests of an example's one kind."""
    version, _, name = module.rpartition("/")
    return (f"{package}/api/{version}/{name}.py", f"{package}/controllers/{name}.py", f"tests/test_{name}.py")


MYDATABASE = Example(
    "mydatabase",
    ("--group", "", "--version", "v1", "--kind", "MyDatabase"),
    _edited("mydatabase", "v1/my_database"),
)
ORDERFULFILLMENT = Example(
    "orderfulfillment",
    ("--group", "orders", "--version", "v1", "--kind", "OrderFulfillment"),
    _edited("orderfulfillment", "v1/order_fulfillment"),
)
REDISCLUSTER = Example(
    "rediscluster",
    ("--group", "cache", "--version", "v1alpha1", "--kind", "RedisCluster"),
    _edited("rediscluster", "v1alpha1/redis_cluster"),
)

EXAMPLES = (MYDATABASE, ORDERFULFILLMENT, REDISCLUSTER)


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
    for example in [one for one in EXAMPLES if one.name in (sys.argv[1:] or [one.name])]:
        with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".remade-") as made:
            example.make(Path(made))
            shutil.rmtree(example.root)
            shutil.copytree(made, example.root)
