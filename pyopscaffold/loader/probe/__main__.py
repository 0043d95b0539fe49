"""Runs in the project's own interpreter, as ``python -P __main__.py ROOT [PACKAGE]``, and answers one JSON document.

It imports the project's declarations and tells what they say. It must stay cheap to start and run with nothing but the
standard library and the runtime wheel, so it only reports; :mod:`pyopscaffold.loader.source` does all the judging.
"""

from __future__ import annotations

import _thread
import gc
import importlib
import json
import os
import stat
import sys
from types import ModuleType

_NAME = "_pyopscaffold_probe"
"""What the probe's modules are called here: the runtime's package has no room for them."""


def _given() -> str:
    """Return what the caller says to read, and stop where it is gone before it has."""
    if not (line := sys.stdin.readline()):
        os._exit(1)
    return line.strip()


def _end_with_the_caller() -> None:
    """Stop where whoever waits for the answer is gone, however it ended: the project's code may run for ever."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # run by hand
    lifeline = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def watch() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    _thread.start_new_thread(watch, ())


def main(root: str, package: str = "") -> None:
    """Answer on stdout; whatever the project prints goes to stderr. Without ``package``, stdin says it."""
    gc.set_threshold(50_000)  # importing makes much that stays
    answer = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    root = os.path.realpath(root)
    sys.path.insert(0, root)
    probe = ModuleType(_NAME)
    probe.__path__ = [os.path.dirname(__file__)]  # noqa: PTH120 - pathlib would take longer to load than the rest
    sys.modules[_NAME] = probe
    try:
        declared = importlib.import_module(f"{_NAME}.declared")
    except ImportError as error:
        found = {"runtime_missing": str(error)}
    else:
        package = package or _given()
        _end_with_the_caller()
        found = declared.read(root, package)
    json.dump(found, answer)
    answer.flush()
    # Threads that the project's modules started must not keep the generator waiting.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
