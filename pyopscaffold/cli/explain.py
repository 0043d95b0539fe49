"""``pyopscaffold explain``."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UsageError


class Output(enum.StrEnum):
    """Forms of an explanation."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("explain")(explain)


def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Id or name of a lint-crd rule, such as VA01.")],
    *,
    output: Annotated[Output, typer.Option("--output", "-o", help="Form of the explanation.")] = Output.TEXT,
) -> None:
    """Tell what a rule of lint-crd demands and why, with examples."""
    import json  # noqa: PLC0415 - heavy imports belong to the command

    from pyopscaffold.lint.library import rules  # noqa: PLC0415
    from pyopscaffold.lint.report import rules as form  # noqa: PLC0415
    from pyopscaffold.lint.selection import ALL_RULES, mistake  # noqa: PLC0415

    known = rules()
    found = [one for one in known if rule.upper() == one.id or rule.lower() == one.name]
    if not found:
        message, hint = mistake(rule, known) or (f"{rule} is several rules", f"name one: {ALL_RULES} lists them")
        raise UsageError(message, hint=hint)
    console.say(
        (json.dumps(form.to_mapping(found[0]), indent=2) if output is Output.JSON else form.render(found[0])).rstrip()
    )
