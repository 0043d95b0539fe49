from __future__ import annotations

import os
import subprocess
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


def test_two_saves_in_a_second(tmp_path: Path) -> None:
    """A module that is saved again in the same second, as long as before, is not run as it was compiled first."""
    module = tmp_path / "shop" / "a.py"
    module.parent.mkdir()
    said = []
    for number in (1, 2):
        module.write_text(f"print({number})\n")
        os.utime(module, ns=(10**18 + number, 10**18 + number))
        check_syntax(tmp_path, "shop", [sys.executable])
        run = [sys.executable, "-c", "import shop.a"]
        said.append(subprocess.run(run, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)
    assert said == ["1\n", "2\n"]
