"""A project's interpreter, started before it is known what it is to read.

Loaded before all else, so it takes in next to nothing, not even pathlib; :mod:`pyopscaffold.loader.interpreter` says
what is wrong.
"""

# ruff: noqa: PTH113, PTH118, PTH120

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence  # noqa: TC003 - typing takes long too

PROJECT = "PROJECT"
"""What the file is called that makes a folder a project."""

_PROBE = os.path.join(os.path.dirname(__file__), "probe", "__main__.py")

waiting: dict[tuple[str, str], subprocess.Popen[bytes]] = {}
"""Probes that wait to be told what to read, by project and interpreter."""


def foresee(folder: str) -> None:
    """Start the probe of the project around ``folder``, if there is one with an interpreter of its own.

    It loads meanwhile what it needs; if nobody takes it over, it ends with us. uv, which may change the environment
    first, is left to be asked in earnest.

    Raises:
        OSError: it can't be started.

    """
    root = root_of(folder)
    if root and (python := python_of(root, os.environ)):
        waiting[root, python] = launch(root, [python])


def root_of(folder: str) -> str:
    """Return the nearest folder at or above ``folder`` that is a project, "" where there is none."""
    while not os.path.isfile(os.path.join(folder, PROJECT)):
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above
    return folder


def python_of(root: str, environ: Mapping[str, str]) -> str:
    """Return the interpreter of the project's ``.venv``, else of the active environment, "" where there is none."""
    for folder in filter(None, (os.path.join(root, ".venv"), environ.get("VIRTUAL_ENV", ""))):
        for name in ("bin/python", "Scripts/python.exe"):
            if os.path.isfile(candidate := os.path.join(folder, name)):
                return candidate
    return ""


def launch(root: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the probe of the project at ``root``; its stdin says what to read.

    Raises:
        OSError: it can't be started.

    """
    return subprocess.Popen(
        [*command, "-P", _PROBE, root],
        cwd=root,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
