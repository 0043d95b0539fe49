"""The example of docs/testing.md, run as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyopscaffold.testing import FakeCluster

DOCS = Path(__file__).parents[3] / "docs"


def _module(page: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the first Python block of a page as a module of that name."""
    match = re.search(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert match
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(match[1], page, "exec"), module.__dict__)  # noqa: S102 - that is the test
    return module


@pytest.mark.parametrize("name", ["test_one_look", "test_life"])
async def test_documented_tests_pass(name: str, fake_cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented tests pass on the documented reconciler."""
    _module("runtime.md", "greeter", monkeypatch)
    documented = _module("testing.md", "documented_tests", monkeypatch)
    await vars(documented)[name](fake_cluster)
