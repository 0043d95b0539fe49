"""What commands print: results on stdout, everything about the run on stderr, colour on terminals only."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyopscaffold.errors import Problem
    from pyopscaffold.files.plan import Plan

_RED, _GREEN, _YELLOW, _CYAN = "red", "green", "yellow", "cyan"


def colourful(stream: TextIO) -> bool:
    """Whether ``stream`` shows colours: a terminal, and the user did not opt out (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def interactive() -> bool:
    """Whether somebody sits there to answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def styled(text: str, colour: str, *, stream: TextIO | None = None, bold: bool = False) -> str:
    """Return ``text`` in ``colour`` ("" for the usual one) where ``stream`` (default: stdout) shows colours."""
    return typer.style(text, fg=colour or None, bold=bold) if colourful(stream or sys.stdout) else text


def say(text: str = "") -> None:
    """Print a line of the result."""
    typer.echo(text)


def note(text: str) -> None:
    """Print a line about the run, on stderr."""
    typer.echo(text, err=True)


def warn(text: str) -> None:
    """Print something that the user should know but that stopped nothing."""
    note(f"{styled('warning:', _YELLOW, stream=sys.stderr, bold=True)} {text}")


def fail(message: str, *, hint: str | None = None) -> None:
    """Print why the command failed, and the way out."""
    note(f"{styled('error:', _RED, stream=sys.stderr, bold=True)} {message}")
    if hint:
        _advise(hint)


def _advise(hint: str) -> None:
    note(f"{styled('hint:', _CYAN, stream=sys.stderr, bold=True)} {hint}")


def fail_for(problems: Sequence[Problem], *, hint: str | None = None) -> None:
    """Print every problem with its place, and how many they are; else as :func:`fail`."""
    for problem in problems:
        fail(placed(problem))
    if len(problems) > 1:
        note(f"{len(problems)} problems")
    if hint:
        _advise(hint)


def placed(problem: Problem) -> str:
    """Return a problem as a line for stderr, whose place stands out."""
    place = styled(f"{problem.file}:{problem.line}:", "", stream=sys.stderr, bold=True) + " " if problem.file else ""
    return f"{place}{styled(f'{problem.subject}:', _CYAN, stream=sys.stderr)} {problem.message}"


def diff(text: str) -> None:
    """Print a unified diff, with colours on a terminal."""
    colours = {"+": _GREEN, "-": _RED, "@": _CYAN}
    for line in text.split("\n")[:-1]:
        say(styled(line, colours[line[0]]) if line[:1] in colours else line)


def changes(plan: Plan) -> None:
    """Print one line a file that changes or is kept, as ``create  path``."""
    colours = {"create": _GREEN, "update": _CYAN, "delete": _RED, "kept": _YELLOW}
    for change in plan.changes:
        if change.action.value in colours:
            reason = "  (yours: left as it is)" if change in plan.kept else ""
            say(f"{styled(f'{change.action.value:7}', colours[change.action.value])} {change.path}{reason}")


class Progress:
    """A line on a terminal's stderr that tells how far a run is, once it takes longer than a second; gone at the end.

    ``clock`` gives seconds.
    """

    def __init__(self, what: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._clock = what, clock
        self._next = clock() + 1 if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else math.inf
        self._shown = False

    def tell(self, done: int, total: int) -> None:
        """Show how much is done, ten times a second at most."""
        if self._clock() >= self._next:
            self._next, self._shown = self._clock() + 0.1, True
            typer.echo(f"\r{done} of {total} {self._what}\x1b[K", err=True, nl=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            typer.echo("\r\x1b[K", err=True, nl=False)


def ask(question: str, *, default: str | None = None) -> str:
    """Ask on stderr, so that stdout stays the result's."""
    answer: str = typer.prompt(question, default=default, err=True)
    return answer
