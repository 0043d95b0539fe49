"""The entry point, which imports next to nothing: Ctrl-C while the rest is being imported is no traceback either."""

from __future__ import annotations

import gc
import sys

FEW_COLLECTIONS = 50_000
"""Objects between collections of garbage: a command makes many that stay and few in cycles."""


def main() -> None:
    """Run the command line, and exit with its code."""
    gc.set_threshold(FEW_COLLECTIONS)
    try:
        from pyopscaffold.cli import app  # noqa: PLC0415 - the point of this module

        app.main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
