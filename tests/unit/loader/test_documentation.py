"""The page on declarations is right and complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import api
from tests.tools_path import ROOT
from tests.unit.loader.projects import read

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "declarations.md").read_text(encoding="utf-8")
MARKERS = (ROOT / "docs" / "markers.md").read_text(encoding="utf-8")


def test_example_is_read(tmp_path: Path) -> None:
    """The example of the page is a kind with all its columns."""
    example = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    (kind,) = read(tmp_path, {"api/kind.py": example}).kinds
    assert [column.json_path for column in kind.columns] == [
        '.status.conditions[?(@.type=="Ready")].status',
        ".status.readyReplicas",
        ".metadata.creationTimestamp",
    ]


@pytest.mark.parametrize("name", api.__all__)
def test_every_public_name_is_explained(name: str) -> None:
    """What an author can import from the API is on the page, or on that of the markers."""
    assert re.search(rf"\b{name}\b", PAGE + MARKERS)
