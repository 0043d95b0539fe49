"""files.plan: what writing artefacts would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import FilesError
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import GENERATED, Action, plan

if TYPE_CHECKING:
    from pathlib import Path


def actions(root: Path, *artefacts: Artefact, **options: object) -> dict[str, Action]:
    """Return path → action."""
    return {change.path: change.action for change in plan(root, artefacts, **options).changes}  # type: ignore[arg-type]


@pytest.mark.parametrize("owner", list(Owner))
def test_absent_files_are_created_and_equal_ones_are_left_alone(tmp_path: Path, owner: Owner) -> None:
    """Whoever owns a file: it is created where absent, and nothing happens where it is as wanted."""
    (tmp_path / "same").write_text("x\n")
    wanted = [Artefact("new/file", "x\n", owner=owner), Artefact("same", "x\n", owner=owner)]
    assert actions(tmp_path, *wanted) == {"new/file": Action.CREATE, "same": Action.UNCHANGED}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("owner", "action"), [(Owner.USER, Action.KEPT), (Owner.BOTH, Action.UPDATE), (Owner.TOOL, Action.UPDATE)]
)
def test_the_owner_decides_about_files_that_differ(
    tmp_path: Path, owner: Owner, action: Action, *, force: bool
) -> None:
    """A user's file is kept, even with force; the tool's and the shared ones are brought up to date."""
    (tmp_path / "file").write_text(f"# {GENERATED}\nold\n")
    made = plan(tmp_path, [Artefact("file", f"# {GENERATED}\nnew\n", owner=owner)], force=force)
    assert [change.action for change in made.changes] == [action]
    assert bool(made.kept) is (action is Action.KEPT)


def test_a_foreign_file_is_replaced_with_force_only(tmp_path: Path) -> None:
    """A file that does not say that it was generated is somebody's work."""
    (tmp_path / "role.yaml").write_text("mine: true\n")
    wanted = Artefact("role.yaml", f"# {GENERATED}\n", owner=Owner.TOOL)
    with pytest.raises(FilesError, match=r"role\.yaml is in the way") as caught:
        plan(tmp_path, [wanted])
    assert "--force" in str(caught.value.hint)
    assert actions(tmp_path, wanted, force=True) == {"role.yaml": Action.UPDATE}


def test_deletions_are_planned_for_files_that_exist(tmp_path: Path) -> None:
    """A file to delete that is not there is no change."""
    (tmp_path / "old").write_text("x\n")
    assert actions(tmp_path, delete=["old", "older"]) == {"old": Action.DELETE}


def test_the_diff_reads_as_git_writes_it(tmp_path: Path) -> None:
    """Created, changed and deleted files, and a missing newline, are shown as a unified diff."""
    (tmp_path / "b").write_text("one\ntwo\n")
    (tmp_path / "c").write_text("gone\n")
    wanted = [Artefact("a", "new", owner=Owner.TOOL), Artefact("b", "one\n2\n", owner=Owner.BOTH)]
    assert plan(tmp_path, wanted, delete=["c"]).diff() == (
        "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n"
        "--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", "a/../../up", ""])
def test_paths_outside_the_project_are_refused(tmp_path: Path, path: str) -> None:
    """No artefact is written above the root."""
    with pytest.raises(FilesError, match="no path inside the project"):
        plan(tmp_path, [Artefact(path, "x", owner=Owner.TOOL)])


@pytest.mark.parametrize("link", ["config", "config/file"])
def test_links_out_of_the_project_are_refused(tmp_path: Path, link: str) -> None:
    """Neither a linked folder nor a linked file leads a write out of the root."""
    outside = tmp_path / "outside"
    (outside / "config").mkdir(parents=True)
    (outside / "config/file").write_text("x")
    root = tmp_path / "project"
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(outside / link)
    with pytest.raises(FilesError, match="symbolic link"):
        plan(root, [Artefact("config/file", "new", owner=Owner.BOTH)])


def test_what_stands_in_the_way_is_named(tmp_path: Path) -> None:
    """A folder where a file is to be, and a file where a folder is to be, are errors that name the path."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    for path, why in {"folder": "is a folder", "file/below": "a file stands where a folder is needed"}.items():
        with pytest.raises(FilesError, match=rf"^{path} .*{why}"):
            plan(tmp_path, [Artefact(path, "x", owner=Owner.TOOL)])


def test_a_kept_file_may_be_in_any_encoding(tmp_path: Path) -> None:
    """A user's file is not required to be UTF-8."""
    (tmp_path / "notes").write_bytes(b"\xff\xfe")
    assert actions(tmp_path, Artefact("notes", "x", owner=Owner.USER)) == {"notes": Action.KEPT}
