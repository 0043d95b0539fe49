"""``pyopscaffold version``."""

from __future__ import annotations

import enum
import json
import platform
from typing import Annotated

import typer

from pyopscaffold import __version__
from pyopscaffold.cli import console


class Output(enum.StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(version)


def version(
    *, output: Annotated[Output, typer.Option("--output", "-o", help="How to print it.")] = Output.TEXT
) -> None:
    """Show the version."""
    facts = {"version": __version__, "python": platform.python_version(), "platform": platform.platform(terse=True)}
    if output is Output.JSON:
        console.say(json.dumps(facts, indent=2))
    else:
        console.say(f"pyopscaffold {facts['version']} (Python {facts['python']}, {facts['platform']})")
