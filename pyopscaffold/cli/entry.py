"""The entry point, which imports next to nothing: Ctrl-C while the rest is being imported is no traceback either."""

from __future__ import annotations

import gc
import os
import sys

FEW_COLLECTIONS = 50_000
"""Objects between collections of garbage: a command makes many that stay and few in cycles."""


def main() -> None:
    """Run the command line, and exit with its code."""
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        _foresee(sys.argv[1:])
        from pyopscaffold.cli import app  # noqa: PLC0415 - the point of this module

        app.main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    finally:
        gc.freeze()  # what is left at the end goes with the process: to look for cycles in it takes a tenth of the time


def _foresee(arguments: list[str]) -> None:
    """Have the project's interpreter start while we do, where it is plain that it will be asked."""
    named = any(argument.startswith(("--python", "--help", "-h")) for argument in arguments)
    if arguments[:1] != ["generate"] or named:
        return
    from pyopscaffold.loader.early import foresee  # noqa: PLC0415 - as above

    try:
        foresee(os.getcwd())  # noqa: PTH109 - pathlib takes longer to load
    except OSError:  # such as a folder that is gone; who needs the interpreter says so
        return
