"""``pyopscaffold generate``."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyopscaffold.errors import Problem
    from pyopscaffold.files.plan import Plan

_DONE = {"create": "created", "update": "updated", "delete": "deleted"}


class Output(enum.StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"


class Part(enum.StrEnum):
    """What can be generated alone."""

    DOCS = "docs"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(generate)


def generate(
    part: Annotated[
        Part | None, typer.Argument(metavar="[docs]", help="A reference of the API alone, as Markdown in docs/api.")
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; show the difference and exit with 1 if there is one.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would change.")] = False,
    max_description: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Trim descriptions in CRDs to N bytes, at the end of a sentence; 0 drops them. Default: PROJECT's.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that stand in the way.")] = False,
    python: Annotated[
        str, typer.Option("--python", metavar="FILE", help="The interpreter that has the project's dependencies.")
    ] = "",
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print what changed.")] = Output.TEXT,
) -> None:
    """Generate CRDs, roles, samples and chart templates from the project's Python code.

    `generate docs` makes a reference of the API. Once it is there, `generate` keeps it up to date too.
    """
    from pyopscaffold.loader.root import find_root  # noqa: PLC0415 - so that --help stays quick
    from pyopscaffold.scaffold.regenerate import plan_project  # noqa: PLC0415

    try:
        plan, warnings = plan_project(
            find_root(Path.cwd()),
            python=python,
            force=force,
            docs_only=part is Part.DOCS,
            max_description=max_description,
        )
        if plan.writes and not check and not dry_run:
            from pyopscaffold.files.apply import apply  # noqa: PLC0415 - most runs write nothing

            apply(plan)
    except UserError as error:
        if output is Output.JSON:
            console.say(json.dumps(_failure(error), indent=2))
        raise
    for warning in warnings:
        console.warn(console.placed(warning))
    if output is Output.JSON:
        console.say(json.dumps(_report(plan, warnings, with_diff=check), indent=2))
    else:
        _print(plan, check=check, command="generate docs" if part else "generate")
    if check and plan.writes:
        raise typer.Exit(1)


def _print(plan: Plan, *, check: bool, command: str) -> None:
    if check:
        console.diff(plan.diff())
    else:
        console.changes(replace(plan, changes=plan.writes))
    unchanged = len(plan.changes) - len(plan.writes)
    if not plan.writes:
        console.note(f"{unchanged} files are up to date")
    elif check:
        count = len(plan.writes)
        differ = "1 file differs" if count == 1 else f"{count} files differ"
        console.note(f"{differ} from what the code says: run pyopscaffold {command}")
    elif unchanged:
        console.note(f"{unchanged} unchanged")


def _failure(error: UserError) -> dict[str, object]:
    return {"error": str(error), "hint": error.hint, "problems": [asdict(problem) for problem in error.problems]}


def _report(plan: Plan, warnings: Sequence[Problem], *, with_diff: bool) -> dict[str, object]:
    report: dict[str, object] = {
        done: [change.path for change in plan.writes if change.action == action] for action, done in _DONE.items()
    }
    report["unchanged"] = len(plan.changes) - len(plan.writes)
    report["problems"] = []
    report["warnings"] = [str(warning) for warning in warnings]
    return {**report, "diff": plan.diff()} if with_diff else report
