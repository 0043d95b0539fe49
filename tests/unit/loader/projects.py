"""Small projects for the loader to read."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, TypeVar

import pytest

from pyopscaffold.errors import DeclarationError
from pyopscaffold.loader import source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyopscaffold.model.kinds import KindModel, ProjectModel

K = TypeVar("K")
IMPORTS = """\
from __future__ import annotations
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Final, Generic, Literal, NewType, TypeVar
from annotated_types import Predicate
from pyopscaffold.api import *
"""
"""What the tests' modules start with; declarations begin on the line after."""

FIRST = IMPORTS.count("\n") + 1
"""Number of the first line after the imports."""


def make(root: Path, modules: Mapping[str, str], *, package: str = "acme") -> Path:
    """Write a package: path of each module below it → text."""
    for path, text in modules.items():
        file = root / package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    for folder in [root / package, *(path for path in (root / package).rglob("*") if path.is_dir())]:
        (folder / "__init__.py").touch()
    return root


def read(root: Path, modules: Mapping[str, str]) -> ProjectModel:
    """Write and read a package."""
    return source.read(make(root, modules), "acme", python=sys.executable)


def read_kind(root: Path, text: str) -> KindModel:
    """Write and read a package with one kind."""
    (kind,) = read(root, {"api/kind.py": IMPORTS + textwrap.dedent(text)}).kinds
    return kind


def told_of_each(root: Path, texts: Mapping[K, str]) -> dict[K, list[str]]:
    """Return what is said about each module; all are read at once, their kinds in groups of their own."""
    files = {key: f"api/case{number}.py" for number, key in enumerate(texts)}
    apart = [text.replace("example.com", f"case{number}.example.com", 1) for number, text in enumerate(texts.values())]
    with pytest.raises(DeclarationError) as caught:
        read(root, {file: IMPORTS + text for file, text in zip(files.values(), apart, strict=True)})
    problems = caught.value.problems
    return {key: [str(item) for item in problems if item.file == f"acme/{file}"] for key, file in files.items()}


def told(root: Path, text: str) -> list[str]:
    """Return what is said about a module."""
    with pytest.raises(DeclarationError) as caught:
        read(root, {"api/kind.py": IMPORTS + textwrap.dedent(text)})
    return [str(problem) for problem in caught.value.problems]
