"""The project's own files: generated anew, and checked before an operator that works is stopped for them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from pyopscaffold.errors import LoadError
from pyopscaffold.files.apply import apply
from pyopscaffold.scaffold.regenerate import plan_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyopscaffold.errors import Problem

_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_COMPILE_SECONDS = 60.0


def regenerate(root: Path, *, python: str) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Write what the code says by now; give the paths written, and warnings.

    Raises:
        LoadError, DeclarationError, …: the code is broken; no file was touched.

    """
    plan, warnings = plan_project(root, python=python)
    apply(plan)
    return tuple(change.path for change in plan.writes), warnings


def check_syntax(root: Path, package: str, command: Sequence[str]) -> None:
    """Compile every module of the package: reading the declarations imports only some of them.

    Raises:
        LoadError: one does not compile; names file and line.

    """
    done = subprocess.run(
        [*command, "-m", "compileall", "-q", package],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=_COMPILE_SECONDS,
    )
    if done.returncode:
        said = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["it does not compile"]
        # of several broken files the first
        ends = [number for number, line in enumerate(said) if line.startswith("*** ")][1:]
        first = [line for line in said[: ends[0] if ends else None] if line.strip()]
        place = _PLACE.search("\n".join(first))
        where = f"{place['file'].removeprefix('./')}:{place['line']}: " if place else ""
        raise LoadError(f"{where}{first[-1].strip()}", hint="mend the line, then try again")
