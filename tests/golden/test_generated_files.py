"""Generated files, byte for byte, against the tree ``tests/golden/acme``; UPDATE_GOLDENS=1 writes it anew."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import generate
from pyopscaffold.files.plan import GENERATED
from pyopscaffold.loader import source, tree
from pyopscaffold.model.project import Project
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pyopscaffold.model.kinds import ProjectModel

GOLDENS = Path(__file__).with_name("acme")
DECLARATIONS = ROOT / "tests" / "oracle" / "testdata" / "python"
PROJECT = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="")
PATTERNS = ["**/*.yaml", "**/*.md"]


def _texts(model: ProjectModel) -> dict[str, str]:
    """Give all texts, with the reference of the API as it is once it was asked for."""
    asked = {generate.docs.INDEX: f"<!-- {GENERATED} -->"}
    return {artefact.path: artefact.text for artefact in generate.artefacts(model, PROJECT, asked)}


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """Give the generated texts by path."""
    model = source.read(DECLARATIONS, "acme", python=sys.executable)
    texts = _texts(model)
    if os.environ.get("UPDATE_GOLDENS"):
        shutil.rmtree(GOLDENS, ignore_errors=True)
        for path, text in texts.items():
            (GOLDENS / path).parent.mkdir(parents=True, exist_ok=True)
            (GOLDENS / path).write_text(text, encoding="utf-8")
    return texts


def test_same_files(made: dict[str, str]) -> None:
    """The same files are made as ever, and no others."""
    assert sorted(made) == sorted(tree.texts(GOLDENS, PATTERNS))


@pytest.mark.parametrize("path", sorted(tree.texts(GOLDENS, PATTERNS)))
def test_same_text(made: dict[str, str], path: str) -> None:
    """A file's text has not changed unnoticed."""
    assert made[path] == (GOLDENS / path).read_text(encoding="utf-8")


def test_repeatable(made: dict[str, str]) -> None:
    """A second reading, in a process of its own with another hash seed, gives the same bytes."""
    model = source.read(DECLARATIONS, "acme", python=sys.executable)
    assert _texts(model) == made
