"""The project's own files: generated anew, and checked before an operator that works is stopped for them."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from pyopscaffold.errors import LoadError, UsageError
from pyopscaffold.files.apply import apply
from pyopscaffold.loader.interpreter import find_interpreter
from pyopscaffold.scaffold.regenerate import plan_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyopscaffold.errors import Problem

_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def python_of(root: Path, *, python: str) -> tuple[str, ...]:
    """Return the command of the project's own Python: Python itself, so that signals meet the operator.

    Raises:
        UsageError: ``python`` is no program.
        LoadError: there is none with the project's dependencies.

    """
    if python and not shutil.which(python):
        raise UsageError(f"--python {python} is no program", hint="name the project's own, such as .venv/bin/python")
    command = find_interpreter(root, python=python)
    if len(command) == 1:
        return tuple(command)
    found = subprocess.run(
        [*command, "-c", "import sys; print(sys.executable)"], cwd=root, capture_output=True, text=True, check=False
    )
    if found.returncode:
        said = found.stderr.strip().splitlines() or [f"exit code {found.returncode}"]
        raise LoadError(f"{' '.join(command[:2])} gives no Python with the project's dependencies: {said[-1]}")
    return (found.stdout.strip(),)


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

    What is compiled goes by the text from then on. By its time, which Python knows to the second, a file that is saved
    twice in one would leave the operator with the code of the first.

    Raises:
        LoadError: one does not compile; names file and line.

    """
    done = subprocess.run(
        [*command, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", package],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["it does not compile"]
        # of several broken files the first
        ends = [number for number, line in enumerate(said) if line.startswith("*** ")][1:]
        first = [line for line in said[: ends[0] if ends else None] if line.strip()]
        place = _PLACE.search("\n".join(first))
        where = f"{place['file'].removeprefix('./')}:{place['line']}: " if place else ""
        raise LoadError(f"{where}{first[-1].strip()}", hint="mend the line, then try again")
