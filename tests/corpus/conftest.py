"""Real CRDs of public projects, which stand beside the repository and are no part of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyopscaffold.document.reader import Source

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> tuple[Source, ...]:
    """Give every file of the corpus; without one the test is skipped, but fails in CI."""
    if not CORPUS.is_dir():
        reason = "the corpus of real CRDs is not at ../shared/corpus"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    files = sorted(path for path in CORPUS.rglob("*") if path.is_file())
    return tuple(Source(str(path.relative_to(CORPUS)), path.read_text("utf-8")) for path in files)
