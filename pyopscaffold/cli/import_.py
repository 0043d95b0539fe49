"""``pyopscaffold import crd`` and ``import openapi``."""

from __future__ import annotations

import enum
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import ProjectError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyopscaffold.files.plan import Plan
    from pyopscaffold.scaffold.importer.crd import Note
    from pyopscaffold.scaffold.importer.inputs import Found
    from pyopscaffold.scaffold.importer.project import Target

_NOTES_SHOWN = 20


class Output(enum.StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"


OutputDir = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write plain modules there.  [default: into the project, else here]"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written, write nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Go on although modules are there; they stay as they are.")]
Form = Annotated[Output, typer.Option("--output", "-o", help="How to print what was done.")]


def register(app: typer.Typer) -> None:
    """Add the verb and what it imports."""
    group = typer.Typer(rich_markup_mode=None)
    group.command(name="crd")(crd)
    group.command(name="openapi")(openapi)
    app.add_typer(group, name="import", help="Write dataclasses for APIs that are there already.")

    @group.callback()
    def options() -> None: ...


def crd(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|-...]", help="Files, folders, or - for standard input; with --cluster, names of CRDs."
        ),
    ] = None,
    *,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Import from the cluster: the CRDs named, such as NAME.GROUP, or all.")
    ] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The kubeconfig that names the cluster.")
    ] = None,
    context: Annotated[str, typer.Option(metavar="NAME", help="The kubeconfig's context to use.")] = "",
    own: Annotated[
        bool, typer.Option("--own", help="The kinds become the project's own: generate writes their CRDs from now on.")
    ] = False,
    output_dir: OutputDir = None,
    dry_run: DryRun = False,
    force: Force = False,
    output: Form = Output.TEXT,
) -> None:
    """Write typed dataclasses for the kinds of CRDs, whose generated CRD would be the same.

    In a project they go into its api package, as types of others: for owns=, watches= and to read and write objects.
    What can't be imported is told and left out; the exit code is 1 then.
    """
    found = _found(sources or [], cluster=cluster, kubeconfig=kubeconfig, context=context)
    from pyopscaffold.scaffold.importer.inputs import check  # noqa: PLC0415 - so that --help stays quick
    from pyopscaffold.scaffold.importer.project import import_crds  # noqa: PLC0415

    target = _target(output_dir, own=own, force=force)
    result = import_crds(found.crds, target, report=_progress(len(found.crds)))
    for name, message in result.refused.items():
        found.refuse(name, message)
    check(found)
    kinds = [
        {"group": item.group, "version": item.version, "kind": item.kind, "file": path}
        for path, item in result.modules.items()
    ]
    more = {
        "kinds": kinds,
        "skipped": found.skipped,
        "problems": [asdict(problem) for problem in sorted(found.refused)],
    }
    _finish(result.plan, result.notes, dry_run=dry_run, output=output, more=more)
    if output is Output.TEXT:
        for place in found.skipped:
            console.warn(f"left out: {place}")
        console.fail_for(sorted(found.refused))
    if found.refused:
        raise typer.Exit(1)


def openapi(
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="OpenAPI v3 document or JSON schema, as JSON or YAML; - for stdin.")
    ],
    *,
    name: Annotated[str, typer.Option(help="Name of the module.  [default: that of the file]")] = "",
    output_dir: OutputDir = None,
    dry_run: DryRun = False,
    force: Force = False,
    output: Form = Output.TEXT,
) -> None:
    """Write typed dataclasses for the objects that an OpenAPI document or a JSON schema describes."""
    from pyopscaffold.scaffold.importer.project import import_openapi  # noqa: PLC0415 - so that --help stays quick

    result = import_openapi(source, _target(output_dir, force=force), name=name)
    _finish(result.plan, result.notes, dry_run=dry_run, output=output, more={"classes": result.classes})


def _found(sources: list[str], *, cluster: bool, kubeconfig: Path | None, context: str) -> Found:
    from pyopscaffold.scaffold.importer import inputs  # noqa: PLC0415 - so that --help stays quick

    if not cluster:
        if kubeconfig is not None or context:
            raise UsageError("--kubeconfig and --context name a cluster", hint="add --cluster")
        if not sources:
            raise UsageError("there is nothing to import from", hint="name files or folders, - or --cluster")
        from pyopscaffold.loader.manifests import load_sources  # noqa: PLC0415

        return inputs.in_sources(load_sources(sources))
    import asyncio  # noqa: PLC0415

    from pyopscaffold.runtime.client.config import load  # noqa: PLC0415

    return asyncio.run(inputs.of_cluster(load(kubeconfig, context), sources))


def _target(output_dir: Path | None, *, force: bool, own: bool = False) -> Target:
    from pyopscaffold.loader.project import read  # noqa: PLC0415
    from pyopscaffold.loader.root import find_root  # noqa: PLC0415
    from pyopscaffold.scaffold.importer.project import Target  # noqa: PLC0415

    if output_dir is not None:
        return Target(root=output_dir, own=own, force=force)
    try:
        root = find_root(Path.cwd())
    except ProjectError:
        return Target(root=Path.cwd(), own=own, force=force)
    return Target(root=root, project=read(root), own=own, force=force)


def _progress(count: int) -> Callable[[str], None]:
    """Return what tells a person who waits which kind is being worked on."""

    def report(text: str) -> None:
        if count > 1 and sys.stderr.isatty():
            console.note(f"importing {text}")

    return report


def _finish(
    plan: Plan,
    notes: Sequence[Note],
    *,
    dry_run: bool,
    output: Output,
    more: dict[str, object],
) -> None:
    from pyopscaffold.files.apply import apply  # noqa: PLC0415 - so that --help stays quick

    if not dry_run:
        apply(plan)
    if output is Output.JSON:
        console.say(json.dumps(_report(plan, notes, more), indent=2))
        return
    console.changes(plan)
    if dry_run:
        console.say("\nNothing was written (--dry-run).")
    for note in notes[:_NOTES_SHOWN]:
        console.note(f"note: {note}")
    if len(notes) > _NOTES_SHOWN:
        console.note(f"note: {len(notes) - _NOTES_SHOWN} more; --output json lists all")


def _report(plan: Plan, notes: Sequence[Note], more: dict[str, object]) -> dict[str, object]:
    written = [change.path for change in plan.writes]
    kept = [change.path for change in plan.kept]
    listed = [{"subject": note.subject, "path": note.path, "message": note.message} for note in notes]
    return {"written": written, "kept": kept, "notes": listed, "skipped": [], "problems": [], **more}
