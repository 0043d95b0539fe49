"""The entry point, which imports next to nothing: Ctrl-C while the rest is being imported is no traceback either."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def _foresee(arguments: Sequence[str]) -> None:
    """Have the project's interpreter start while we do, where it is plain that it will be asked."""
    named = any(argument.startswith(("--python", "--help", "-h")) for argument in arguments)
    if arguments[:1] != ["generate"] or named:
        return
    from pathlib import Path  # noqa: PLC0415 - as above

    from pyopscaffold.loader.interpreter import start_early  # noqa: PLC0415

    with suppress(OSError):  # such as a folder that is gone
        start_early(Path.cwd())
