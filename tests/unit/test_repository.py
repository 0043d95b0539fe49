"""What CONTRIBUTING.md says of every file, checked on every file."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

import pyopscaffold
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60

REGISTRIES = [
    r"pypi\.org",
    r"pythonhosted\.org",
    r"proxy\.golang\.org",
    r"npmjs\.org",
    r"crates\.io",
    r"deb\.debian\.org",
]
MACHINE_PATHS = [r"/work\b/(main|shared|team)", r"/root\b/", r"/tmp\b/kb", r"/(home|Users)/\w+/"]


def tracked() -> list[Path]:
    """Every file that git has or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def sources() -> Iterator[tuple[str, str]]:
    """Path and text of each Python file of ours."""
    for path in tracked():
        if path.suffix == ".py" and "templates" not in path.parts:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_files_are_short() -> None:
    """No Python file has more than 600 lines."""
    assert [name for name, text in sources() if text.count("\n") > MAX_FILE_LINES] == []


def test_functions_are_short() -> None:
    """No function, docstring included, has more than 60 lines."""
    long = [
        f"{name}:{node.lineno} {node.name}"
        for name, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    ]

    assert long == []


def test_the_repository_names_no_registry_and_no_machine() -> None:
    """Where packages come from, and where somebody's files lie, is not ours to write down."""
    forbidden = re.compile("|".join(REGISTRIES + MACHINE_PATHS))
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if (match := forbidden.search(path.read_text(encoding="utf-8", errors="ignore")))
    ]

    assert found == []


def modules() -> list[str]:
    """Every module of the package."""
    return [
        info.name
        for info in pkgutil.walk_packages(pyopscaffold.__path__, "pyopscaffold.")
        if "__main__" not in info.name
    ]


@pytest.mark.parametrize("name", modules())
def test_what_a_module_lists_is_there(name: str) -> None:
    """Each module imports, and each name of its ``__all__`` can be had from it, once."""
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])

    assert [item for item in listed if not hasattr(module, item)] == []
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize(
    "name", ["pyopscaffold.api", "pyopscaffold.runtime", "pyopscaffold.runtime.client", "pyopscaffold.testing"]
)
def test_authors_modules_list_what_is_public(name: str) -> None:
    """What an operator's author may import is listed; everything else may change."""
    assert importlib.import_module(name).__all__
