"""scaffold.sources: where a made project gets an unpublished pyopscaffold from."""

from __future__ import annotations

import importlib.metadata
import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.scaffold import sources

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Stand in for an environment that the tool was installed into."""
    made = Installed(tmp_path / "site-packages")
    monkeypatch.syspath_prepend(str(made.folder))
    monkeypatch.setattr(sources, "__file__", str(made.folder / "pyopscaffold/scaffold/sources.py"))
    return made


class Installed:
    """A folder of installed distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (sources.TOOL, sources.RUNTIME):
            self.record(name, None)

    def record(self, name: str, record: dict[str, Any] | None) -> None:
        """Write the distribution's record of where it came from."""
        info = self.folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
        if record is not None:
            (info / "direct_url.json").write_text(json.dumps(record))
        assert importlib.metadata.PathDistribution(info).metadata["Name"] == name


def parsed(entries: dict[str, str]) -> dict[str, Any]:
    """Read the entries as TOML."""
    return tomllib.loads("\n".join(f"{name} = {entry}" for name, entry in entries.items()))


def test_published_wheels_need_no_entry(installed: Installed, tmp_path: Path) -> None:
    """Installed from an index: nothing is written."""
    assert sources.uv_sources(tmp_path) == {}


@pytest.mark.parametrize(
    ("record", "entry"),
    [
        ({"url": "https://example.com/p.whl", "archive_info": {}}, {"url": "https://example.com/p.whl"}),
        (
            {"url": "https://example.com/p.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            {"git": "https://example.com/p.git", "rev": "abc"},
        ),
        (
            {"url": "https://example.com/p.git", "vcs_info": {"commit_id": "abc"}, "subdirectory": "runtime"},
            {"git": "https://example.com/p.git", "rev": "abc", "subdirectory": "runtime"},
        ),
    ],
)
def test_urls_are_taken_over(installed: Installed, tmp_path: Path, record: dict[str, Any], entry: object) -> None:
    """A wheel by URL, or a git commit, is where the project gets it from too."""
    installed.record(sources.RUNTIME, record)
    assert parsed(sources.uv_sources(tmp_path)) == {sources.RUNTIME: entry}


def test_wheel_files_are_named(installed: Installed, tmp_path: Path) -> None:
    """A wheel on the disk, with characters that an URL escapes."""
    wheel = tmp_path / "a b" / "p-0.1.0.whl"
    installed.record(sources.TOOL, {"url": wheel.as_uri(), "archive_info": {}})
    assert parsed(sources.uv_sources(tmp_path / "project")) == {sources.TOOL: {"path": str(wheel)}}


@pytest.mark.parametrize(
    ("project", "spelling"), [("repository/examples/shop", "../.."), ("elsewhere/shop", "{top}/repository")]
)
def test_a_checkout_is_named_relative_within_the_repository(
    installed: Installed, tmp_path: Path, project: str, spelling: str
) -> None:
    """A project in the tool's own repository works in every clone of it; others get the absolute path."""
    checkout = tmp_path / "repository"
    (checkout / ".git").mkdir(parents=True)
    installed.record(sources.TOOL, {"url": checkout.as_uri(), "dir_info": {"editable": True}})
    (tmp_path / project).mkdir(parents=True)
    expected = {"path": spelling.format(top=tmp_path), "editable": True}
    assert parsed(sources.uv_sources(tmp_path / project)) == {sources.TOOL: expected}


def test_the_source_tree_itself_is_a_source(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run from a tree that was not installed, both distributions are those of the tree."""
    top = tmp_path / "tree"
    (top / "runtime").mkdir(parents=True)
    for project in (top, top / "runtime"):
        (project / "pyproject.toml").touch()
    monkeypatch.setattr(sources, "__file__", str(top / "pyopscaffold/scaffold/sources.py"))
    assert parsed(sources.uv_sources(tmp_path)) == {
        sources.TOOL: {"path": str(top), "editable": True},
        sources.RUNTIME: {"path": str(top / "runtime"), "editable": True},
    }
