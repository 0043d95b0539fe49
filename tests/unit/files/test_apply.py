"""files.apply: a plan is written as a whole, or the tree is as it was."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import FilesError
from pyopscaffold.files.apply import apply
from pyopscaffold.files.artefact import Artefact, Owner
from pyopscaffold.files.plan import plan
from tests.unprivileged import DROP, open_to_others

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

UNPRIVILEGED = f"import pyopscaffold.files.apply, pyopscaffold.files.plan\n{DROP}"

WRITE = """
    import sys
    from pathlib import Path
    from pyopscaffold.errors import FilesError
    from pyopscaffold.files.apply import apply
    from pyopscaffold.files.artefact import Artefact, Owner
    from pyopscaffold.files.plan import plan

    SIZES = {"a/1": 10, "a/2": 200_000, "b/3": 10, "old": 10, "z/y/5": 10}
    files = [Artefact(path, "x" * size, owner=Owner.BOTH) for path, size in SIZES.items()]
    try:
        apply(plan(Path(sys.argv[1]), files, delete=["gone"]))
    except FilesError as error:
        sys.exit(f"{error} | {error.hint}")
"""
"""Create four files in three new folders (the second is large), change one, delete one."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a folder with three files, one of which is to change and one to go."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "old").write_text("old\n")
    (root / "gone").write_text("gone\n")
    (root / "else").write_text("else\n")
    return root


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return all that is under root: path → (mode, content)."""
    return {
        str(path.relative_to(root)): (path.stat().st_mode, b"" if path.is_dir() else path.read_bytes())
        for path in root.rglob("*")
    }


def write(root: Path, *, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run WRITE on root in a process of its own, after the statements ``before``."""
    code = textwrap.dedent(before) + textwrap.dedent(WRITE)
    return subprocess.run([sys.executable, "-c", code, str(root)], capture_output=True, text=True, check=False)


def test_a_plan_is_written(tree: Path) -> None:
    """Files are created with their folders, changed and deleted; nothing else is left or touched."""
    files = [Artefact("new/folder/file", "new\n", owner=Owner.USER), Artefact("old", "changed\n", owner=Owner.BOTH)]
    apply(plan(tree, files, delete=["gone"]))
    found = {path: content for path, (mode, content) in snapshot(tree).items() if stat.S_ISREG(mode)}
    assert found == {"new/folder/file": b"new\n", "old": b"changed\n", "else": b"else\n"}


def test_modes_are_kept_and_executables_made(tree: Path) -> None:
    """A changed file keeps its permissions; an executable artefact may be run by whoever may read it."""
    (tree / "old").chmod(0o600)
    files = [Artefact("old", "new", owner=Owner.BOTH), Artefact("run.sh", "#!", owner=Owner.USER, executable=True)]
    apply(plan(tree, files))
    assert stat.S_IMODE((tree / "old").stat().st_mode) == 0o600
    mode = (tree / "run.sh").stat().st_mode
    assert mode & 0o111 == (mode & 0o444) >> 2


def test_a_link_inside_the_tree_stays_a_link(tree: Path) -> None:
    """The file that a link points to is written, not the link replaced."""
    (tree / "link").symlink_to("old")
    apply(plan(tree, [Artefact("link", "new", owner=Owner.BOTH)]))
    assert (tree / "link").is_symlink()
    assert (tree / "old").read_text() == "new"


def test_the_second_of_five_files_does_not_fit(tree: Path) -> None:
    """Where the system takes no more bytes in the middle, the tree is as before.

    A limit on the file size stands for the full disk: it fails the same write() and needs no root, on Linux and macOS.
    """
    before = snapshot(tree)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    done = write(tree, before=limit)
    assert done.returncode == 1
    assert done.stderr.startswith("a/2 can't be written: file too large; nothing was changed | raise the limit")
    assert snapshot(tree) == before


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0,
    reason="a small disk takes Linux and root; see the test above",
)
def test_a_full_disk_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    """ENOSPC from a real, small file system."""
    script = 'mount -t tmpfs -o size=64k none "$1" && echo old >"$1/old" && "$2" -c "$3" "$1"; ls -A "$1"'
    done = subprocess.run(
        [
            "/usr/bin/env",
            "unshare",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            str(tmp_path),
            sys.executable,
            textwrap.dedent(WRITE),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a/2 can't be written: no space left on device; nothing was changed | make room" in done.stderr
    assert done.stdout == "old\n"


def test_a_read_only_folder_is_named(tree: Path) -> None:
    """An ordinary user who may not write gets one line and an unchanged tree."""
    (tree / "b").mkdir()
    (tree / "b").chmod(0o555)
    tree.chmod(0o777)
    open_to_others(tree.parent)
    before = snapshot(tree)
    done = write(tree, before=UNPRIVILEGED)
    assert done.stderr.startswith("b/3 can't be written: permission denied; nothing was changed | make the folder")
    assert snapshot(tree) == before


STEPS = [("os.fsync", 1), ("os.fsync", 5), ("os.replace", 1), ("os.replace", 3), ("os.mkdir", 2)]
ALL_IN_PLACE = ("signal.signal", 2)
"""Every file has its new text, and SIGINT is ignored so that cleaning up is not disturbed; SIGTERM is not yet."""


@pytest.mark.parametrize(
    ("number", "call", "nth"),
    [
        *((number, *step) for number in (signal.SIGINT, signal.SIGTERM) for step in STEPS),
        (signal.SIGTERM, *ALL_IN_PLACE),
    ],
)
def test_a_signal_half_way_leaves_the_tree_as_it_was(tree: Path, number: int, call: str, nth: int) -> None:
    """Ctrl-C and SIGTERM, right after any step of the work, roll everything back."""
    before = snapshot(tree)
    module, name = call.split(".")
    hook = f"""
        import os, signal
        real, count = {call}, 0
        def hooked(*args, **kwargs):
            global count
            result = real(*args, **kwargs)
            count += 1
            if count == {nth}:
                os.kill(os.getpid(), {int(number)})
            return result
        {module}.{name} = hooked
    """
    done = write(tree, before=hook)
    assert done.returncode in (-number, 128 + number)
    assert snapshot(tree) == before


def test_errors_of_our_own_are_not_disguised(tree: Path) -> None:
    """A file that appeared since the plan was made is not overwritten."""
    made = plan(tree, [Artefact("new", "new", owner=Owner.USER)])
    (tree / "new").write_text("somebody else's\n")
    with pytest.raises(FilesError, match="new can't be written: file exists"):
        apply(made)
    assert (tree / "new").read_text() == "somebody else's\n"


def test_a_failure_of_any_step_leaves_the_tree_as_it_was(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call of the system fails, the first, the last or one between: all or nothing."""
    files = [Artefact(path, "new\n", owner=Owner.BOTH) for path in ("a/1", "a/b/2", "old", "z")]
    before = snapshot(tree)
    failing = Failing(monkeypatch, "fsync", "replace", "mkdir", "chmod")
    for nth in range(1, 100):
        made = plan(tree, files, delete=["gone"])
        failing.fail_at(nth)
        try:
            apply(made)
        except FilesError as error:
            assert "nothing was changed" in str(error)  # noqa: PT017 - the loop ends with the first success
            assert snapshot(tree) == before
        else:
            break
    assert nth > 12
    assert plan(tree, files, delete=["gone"]).writes == ()


class Failing:
    """Functions of ``os``, one call of which fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        self._left = 0
        for name in names:
            monkeypatch.setattr(os, name, self._wrapped(getattr(os, name)))

    def fail_at(self, nth: int) -> None:
        """Have the nth call from now on fail."""
        self._left = nth

    def _wrapped(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            self._left -= 1
            if self._left == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*args, **options)

        return call
