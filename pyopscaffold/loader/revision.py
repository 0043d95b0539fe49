"""Reads manifests as they were in another revision, by the git of the user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import DocumentError, UsageError
from pyopscaffold.loader.manifests import STDIN, is_manifest, load_sources

_HINT = "name a commit, tag or branch that is fetched, such as origin/main"
_HUNK = re.compile(r"@@ -\S+ \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def load_before(place: str, paths: Sequence[str]) -> Iterator[Source]:
    """Read the earlier state that ``place`` names: a file or folder, a revision, or ``REVISION:PATH`` as in git.

    Of a revision alone, ``paths`` are read, as they were in it; standard input stands for the working folder.

    Raises:
        UsageError: it is neither, or there is no git.
        DocumentError: a file can't be read.

    """
    if not place:
        raise UsageError("an empty text is no file, folder or revision", hint=_HINT)
    if os.path.lexists(place):
        yield from load_sources([place])
        return
    revision, colon, path = place.partition(":")
    _require(revision, f"{place} is no file, folder or revision")
    asked = [path or "."] if colon else ["." if one == STDIN else one for one in paths]
    yield from _sources(revision, asked)


def changed_lines(revision: str) -> dict[str, frozenset[int]]:
    """Return which lines of the work tree are not in ``revision``, by the real path of each file that git has.

    Raises:
        UsageError: there is no such revision, or no git.

    """
    _require(revision, f"{revision or 'an empty text'} is no revision")
    root = Path(os.fsdecode(_git("rev-parse", "--show-toplevel").stdout).rstrip("\n"))
    listed = os.fsdecode(_git("ls-files", "-z", at=root).stdout).split("\0")
    found: dict[str, frozenset[int]] = dict.fromkeys((f"{root}/{name}" for name in listed), frozenset())
    # Each says the opposite of a setting of git that users, or a repository's attributes, may have.
    options = ("--unified=0", "--inter-hunk-context=0", "--no-color", "--no-ext-diff", "--no-textconv", "--text")
    names = ("--no-renames", "--no-prefix")
    shown = _git("-c", "core.quotePath=false", "diff", *options, *names, revision, "--", at=root).stdout
    file = ""
    for line in shown.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("diff "):
            file = ""
        elif not file and line.startswith("+++ "):  # later it is a line of the file that has two plus signs
            file = str(root / _unquoted(line[4:].rstrip("\t")))
        elif (hunk := _HUNK.match(line)) and file in found:
            start, count = int(hunk["start"]), int(hunk["count"] or 1)
            found[file] |= frozenset(range(start, start + count))
    return found


def _unquoted(name: str) -> str:
    """Return a name as git quotes it where it has quotes, backslashes or control characters."""
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape").encode("latin-1")
    return os.fsdecode(raw)


def _require(revision: str, problem: str) -> None:
    if not shutil.which("git"):
        raise UsageError(f"{problem}: there is no git to ask", hint="install git, or name a file or folder")
    done = _git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}", check=False)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise UsageError(f"{problem}{f': {why}' if why else ''}", hint=_HINT)


def _sources(revision: str, paths: Iterable[str]) -> Iterator[Source]:
    for path in paths:
        # git looks for a path in the revision from the root unless it begins with a dot
        name = os.path.relpath(path)
        listed = _git("ls-tree", "-r", "-z", "--name-only", revision, "--", name)
        files = [file for file in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if file]
        for file in files:
            if file == PurePath(name).as_posix() or is_manifest(file):
                shown = _git("show", f"{revision}:./{file}")
                yield Source(f"{revision}:{file}", shown.stdout.decode("utf-8", "surrogateescape"))


def _git(*args: str, check: bool = True, at: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    command = ["git", *args]  # by PATH, as its user calls it
    done = subprocess.run(command, cwd=at, capture_output=True, check=False)
    if check and done.returncode:
        why = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise DocumentError(f"git {args[0]}: {why}")
    return done
