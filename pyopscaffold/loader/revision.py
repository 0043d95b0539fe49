"""Reads manifests as they were in another revision, by the git of the user."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import PurePath
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Source
from pyopscaffold.errors import DocumentError, UsageError
from pyopscaffold.loader.manifests import STDIN, is_manifest, load_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def load_before(place: str, paths: Sequence[str]) -> Iterator[Source]:
    """Read the earlier state that ``place`` names: a file or folder, a revision, or ``REVISION:PATH`` as in git.

    Of a revision alone, ``paths`` are read, as they were in it; standard input stands for the working folder.

    Raises:
        UsageError: it is neither, or there is no git.
        DocumentError: a file can't be read.

    """
    if os.path.lexists(place):
        yield from load_sources([place])
        return
    revision, colon, path = place.partition(":")
    _require(revision, place)
    asked = [path or "."] if colon else ["." if one == STDIN else one for one in paths]
    yield from _sources(revision, asked)


def _require(revision: str, place: str) -> None:
    if not shutil.which("git"):
        raise UsageError(f"{place} is no file or folder, and there is no git to ask for a revision")
    done = _git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}", check=False)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise UsageError(
            f"{place} is no file, folder or revision{f': {why}' if why else ''}",
            hint="name a path, or a commit, tag or branch that is fetched: --against origin/main",
        )


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


def _git(*args: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(["git", *args], capture_output=True, check=False)  # noqa: S607 - the user's git, by PATH as they call it
    if check and done.returncode:
        why = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").partition("\n")[0]
        raise DocumentError(f"git {args[0]}: {why}")
    return done
