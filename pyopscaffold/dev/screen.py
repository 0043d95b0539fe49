"""What ``dev`` shows: lines, and the objects as they are; a live table below the lines on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from pyopscaffold.dev.lines import Line
    from pyopscaffold.dev.objects import Row


class Screen(Protocol):
    """Takes what there is to show."""

    def result(self, text: str) -> None:
        """Show what another program may want to read, such as the export line."""

    def note(self, text: str) -> None:
        """Show what happens."""

    def warn(self, text: str) -> None:
        """Show what went wrong but stops nothing."""

    def fail(self, text: str, hint: str | None) -> None:
        """Show a mistake, and the way out."""

    def log(self, line: Line) -> None:
        """Show a line of the operator's."""

    def objects(self, rows: Sequence[Row], title: str) -> None:
        """Show all objects as they are now; ``title`` says how the operator is."""


class Plain:
    """Lines for files and pipes: results and objects that changed on stdout, all else on stderr."""

    def __init__(self) -> None:
        self._shown: dict[str, Row] = {}

    def result(self, text: str) -> None:
        """See Screen."""
        print(text, flush=True)  # noqa: T201 - it is the output

    def note(self, text: str) -> None:
        """See Screen."""
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - as above

    def warn(self, text: str) -> None:
        """See Screen."""
        self.note(f"warning: {text}")

    def fail(self, text: str, hint: str | None) -> None:
        """See Screen."""
        self.note(f"error: {text}")
        if hint:
            self.note(f"hint: {hint}")

    def log(self, line: Line) -> None:
        """See Screen."""
        self.note(f"| {line}")

    def objects(self, rows: Sequence[Row], title: str) -> None:  # noqa: ARG002 - the lines say it as it happens
        """See Screen: one line for each object that changed."""
        now = {f"{row.kind} {row.where}": row for row in rows}
        for key, row in now.items():
            if self._shown.get(key) != row:
                self.result(str(row))
        for key in self._shown.keys() - now.keys():
            self.result(f"{key}  gone")
        self._shown = now


def on_terminal() -> AbstractContextManager[Screen]:
    """Return the screen for a terminal: lines scroll above a table that is always up to date."""
    from pyopscaffold.dev.live import Live  # noqa: PLC0415 - imports rich

    return Live()
