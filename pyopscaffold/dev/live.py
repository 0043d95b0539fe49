"""The screen of a terminal, by rich; imported only where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from pyopscaffold.dev.lines import Line
    from pyopscaffold.dev.objects import Row

_COLOURS = {"debug": "dim", "info": "green", "warn": "yellow", "error": "bold red", "fatal": "bold red"}
_FEWEST = 5
"""How many objects are shown on the lowest terminal."""


class Live:
    """A Screen: lines scroll above a table of the objects, which is drawn anew only when something changed."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._live = RichLive(console=self._console, auto_refresh=False, transient=True)
        self._shown: tuple[tuple[Row, ...], str] = ((), "")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def result(self, text: str) -> None:
        """See Screen."""
        self._console.print(Text(text, "bold"))

    def note(self, text: str) -> None:
        """See Screen."""
        self._console.print(Text(text, "cyan"))

    def warn(self, text: str) -> None:
        """See Screen."""
        self._console.print(Text.assemble(("warning: ", "bold yellow"), text))

    def fail(self, text: str, hint: str | None) -> None:
        """See Screen."""
        self._console.print(Text.assemble(("error: ", "bold red"), text))
        if hint:
            self._console.print(Text.assemble(("hint: ", "bold cyan"), hint))

    def log(self, line: Line) -> None:
        """See Screen."""
        if not line.level:
            self._console.print(Text.from_ansi(line.message))
            return
        level = (f"{line.level:<5} ", _COLOURS.get(line.level, ""))
        about = (f"{line.about} " if line.about else "", "magenta")
        self._console.print(
            Text.assemble((f"{line.time} ", "dim"), level, about, line.message, (f"  {line.fields}", "dim"))
        )
        if line.stack:
            self._console.print(Text(line.stack, "dim"))

    def objects(self, rows: Sequence[Row], title: str) -> None:
        """See Screen."""
        if self._shown == (shown := (tuple(rows), title)):
            return
        self._shown = shown
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        room = max(_FEWEST, self._console.height // 2)
        # where not all fit, those that want attention come first
        shown_rows = rows if len(rows) <= room else sorted(rows, key=lambda row: row.good)[:room]
        for row in shown_rows:
            style = "green" if row.good else "yellow"
            table.add_row(row.kind, row.where, Text(row.state, style), Text(row.why, "dim"))
        if not rows:
            table.add_row(Text("no objects yet", "dim"))
        if more := len(rows) - len(shown_rows):
            table.add_row(Text(f"and {more} more", "dim"))
        self._live.update(Group(Rule(Text(title, "bold"), align="left", style="dim"), table), refresh=True)
