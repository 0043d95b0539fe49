"""``pyopscaffold completion``: shell completion, printed."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from pyopscaffold.cli import console


class Shell(enum.StrEnum):
    """Shells that completion exists for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(completion)


def completion(shell: Annotated[Shell, typer.Argument(help="Shell to complete in.")]) -> None:
    """Print the completion script of a shell.

    Load it with: source <(pyopscaffold completion bash)
    """
    # Needed in this command only; typer itself uses it from this module, but lists no exports there
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # noqa: PLC0415

    script = get_completion_script(prog_name="pyopscaffold", complete_var="_PYOPSCAFFOLD_COMPLETE", shell=shell.value)
    console.say(script)
