from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.dev.project import check_syntax
from pyopscaffold.errors import LoadError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_broken_module_is_named(tmp_path: Path) -> None:
    """Of several modules that do not compile, one is shown, with its line."""
    package = tmp_path / "shop"
    package.mkdir()
    (package / "a.py").write_text("x = 1\n")
    check_syntax(tmp_path, "shop", [sys.executable])
    for name in ("a.py", "b.py"):
        (package / name).write_text("x = 1\ndef broken(:\n")
    with pytest.raises(LoadError, match=r"^shop/[ab].py:2: SyntaxError: invalid syntax$"):
        check_syntax(tmp_path, "shop", [sys.executable])
