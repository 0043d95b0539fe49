from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCK = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
LOCKED = {
    canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", LOCK, re.MULTILINE)
}


def load(path: str) -> dict[str, Any]:
    """Read a TOML file of the repository."""
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def direct() -> Iterator[str]:
    """Every requirement that stands in the two pyproject.toml files, but the extras."""
    tool = load("pyproject.toml")
    yield from tool["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"]
    yield from tool["dependency-groups"]["dev"]
    yield from tool["build-system"]["requires"]
    yield from load("runtime/pyproject.toml")["project"]["dependencies"]


@pytest.mark.parametrize("text", sorted(set(direct())))
def test_lock_satisfies(text: str) -> None:
    """A dependency that was added or moved in pyproject.toml is in the lock: else run `make lock`."""
    requirement = Requirement(text)

    assert LOCKED[canonicalize_name(requirement.name)] in requirement.specifier


def test_every_locked_package_has_hashes() -> None:
    """`pip install --require-hashes` can check each download."""
    entries = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:]

    assert len(entries) == len(LOCKED)
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_lock_names_no_place() -> None:
    """Which index serves the packages is the reader's affair."""
    assert not re.search(r"https?://|file:|--index|--find-links|^-e", LOCK, re.MULTILINE)
