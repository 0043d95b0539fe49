"""docs/markers.md says what the code says."""

from __future__ import annotations

import re

import pytest

from pyopscaffold import api
from scripts.markers import PAGE, ROOT, page

TEXT = PAGE.read_text(encoding="utf-8")


def test_page_is_fresh() -> None:
    """The page is what `make docs` writes: signatures, docstrings, and what the examples do to a CRD."""
    assert page() == TEXT, "run make docs"


@pytest.mark.parametrize("name", api.__all__)
def test_every_name_has_a_section(name: str) -> None:
    """All that the API has is on the page, once."""
    assert len(re.findall(rf"^### .*`{name}`$", TEXT, re.MULTILINE)) == 1


def test_links() -> None:
    """Links within the page lead to an anchor, the others to a page that is there."""
    anchors = re.findall(r'<a id="(.*?)"></a>', TEXT)
    assert len(anchors) == len(set(anchors))
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE)
    for page_name, anchor in re.findall(r"\]\((?!https://)([^#)]*)#?([^)]*)\)", prose):
        assert anchor in anchors if not page_name else (ROOT / "docs" / page_name).exists()
