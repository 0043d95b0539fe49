"""The project's own interpreter, and what the probe answers in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import LoadError, Problem
from pyopscaffold.loader import early

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIMEOUT = 120.0
_GET_RUNTIME = "run uv sync in the project, or pip install pyopscaffold-runtime into that environment"


def find_interpreter(root: Path, *, python: str = "", environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command that runs Python with the project's dependencies.

    In this order: ``python`` where it is given, the project's ``.venv``, ``VIRTUAL_ENV``, ``uv run``.

    Raises:
        LoadError: there is none of them.

    """
    if python:
        return [os.path.abspath(python) if os.sep in python else python]  # noqa: PTH100 - resolve() would leave the venv
    if found := early.python_of(str(root), environ):
        return [found]
    if uv := shutil.which("uv", path=environ.get("PATH")):
        return [uv, "run", "--quiet", "--project", str(root), "python"]
    raise LoadError(
        "there is no Python with the project's dependencies: no .venv here, no VIRTUAL_ENV set, no uv installed",
        hint="make one: python3 -m venv .venv && .venv/bin/pip install -e . (or set VIRTUAL_ENV to another)",
    )


class Probe:
    """The probe at work: it imports the project's declarations while the caller does something else."""

    def __init__(self, root: Path, package: str, command: list[str], process: subprocess.Popen[bytes]) -> None:
        self._root = root
        self._package = package
        self._command = command
        self._process = process
        # Kept from communicate(), which would close it: the probe ends when its other end is closed, or we are gone.
        self._lifeline, process.stdin = process.stdin, None

    def answer(self) -> dict[str, Any]:
        """Wait for the probe, and return what it says about the declarations.

        Raises:
            LoadError: the interpreter lacks the runtime, or does not come to an answer.

        """
        with self._process as process:
            try:
                said, complaints = process.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise LoadError(
                    f"importing {self._package} took longer than {_TIMEOUT:.0f} s",
                    hint="modules under api/, controllers/ and webhooks/ only declare: start nothing when imported",
                ) from error
            except BaseException:
                process.kill()
                raise
            finally:
                if self._lifeline:
                    self._lifeline.close()
        try:
            answer: dict[str, Any] = json.loads(said)
        except ValueError:
            raise _no_answer(self._command, process.returncode, complaints) from None
        if "runtime_missing" in answer:
            message = f"{self._command[0]} does not have the runtime: {answer['runtime_missing']}"
            raise LoadError(message, hint=_GET_RUNTIME)
        return answer


def start(root: Path, package: str, *, python: str = "") -> Probe:
    """Start the probe for ``package`` under ``root``.

    Raises:
        LoadError: there is no interpreter, or it does not start.

    """
    command = find_interpreter(root, python=python)
    try:
        process = early.waiting.pop((str(root), command[0]), None) or early.launch(str(root), command)
    except OSError as error:
        raise LoadError(f"{command[0]} can't be started: {error.strerror}") from error
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError):  # what ended it is in its answer
        process.stdin.write(f"{package}\n".encode())
    return Probe(root, package, command, process)


@cache
def relative(root: Path, file: str) -> str:
    """Return ``file`` relative to the project with forward slashes, or as it is where it stands outside."""
    path = Path(file)
    return path.relative_to(real).as_posix() if path.is_relative_to(real := root.resolve()) else file


def _no_answer(command: list[str], code: int, complaints: bytes) -> LoadError:
    said = complaints.decode(errors="replace").strip().splitlines()
    return LoadError(
        f"{' '.join(command)} ended with code {code}: {said[-1] if said else 'it said nothing'}",
        hint="the project needs Python 3.11 or newer, and modules that can be imported without side effects",
    )


def import_failure(root: Path, package: str, failure: dict[str, Any]) -> LoadError:
    """Return what the probe says of a module that can't be imported, as an error that names file and line."""
    kind, message, missing = failure["type"], failure["message"], failure["missing"]
    hint = failure["advice"] or "mend the line, then try again"
    if missing == package:
        return LoadError(
            f"there is no package {package} in {root}",
            hint="PROJECT names the package under plugins; if you renamed the folder, change it there",
        )
    if missing is not None and missing.partition(".")[0] == package:
        hint = f"there is no module {missing}; was it renamed or deleted?"
    elif missing is not None:
        hint = f"add {missing.partition('.')[0]} to the dependencies in pyproject.toml and install it (uv sync)"
    elif kind == "SystemExit":
        message = f"the module ends the program ({message})"
        hint = "a module must only declare when imported; put the rest under if __name__ == '__main__':"
    if not failure["file"]:
        return LoadError(f"{kind}: {message}", hint=hint)
    problem = Problem(relative(root, failure["file"]), failure["line"], kind, message)
    return LoadError(str(problem), hint=hint, problems=[problem])
