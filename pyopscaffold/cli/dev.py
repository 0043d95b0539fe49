"""``pyopscaffold dev``."""

from __future__ import annotations

import enum
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UsageError


class LogFormat(enum.StrEnum):
    """How the operator's log lines are shown."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(dev)


def dev(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[-- ARGS...]", help="Flags for the operator itself, after --.")
    ] = None,
    *,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start with an empty cluster.")] = False,
    nodes: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Simulated nodes at least; 0: an API server alone. Default: 1."),
    ] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Work on the cluster that this kubeconfig names.")
    ] = None,
    context: Annotated[
        str, typer.Option(metavar="NAME", help="The kubeconfig's context to use: work on that cluster.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before an existing cluster is changed.")] = False,
    namespace: Annotated[
        str, typer.Option(metavar="NAME", help="Watch this namespace only, and put the samples there.")
    ] = "",
    log_format: Annotated[
        LogFormat, typer.Option("--log-format", help="text: short, for people; json: as the operator writes.")
    ] = LogFormat.TEXT,
    python: Annotated[
        str, typer.Option("--python", metavar="FILE", help="The interpreter that has the project's dependencies.")
    ] = "",
) -> None:
    """Run the operator here and now, and again whenever its code changes; Ctrl-C stops everything.

    On a simulated cluster that is kept for the project's next run, or on one that exists. CRDs, roles and samples are
    installed, and the operator runs as its own ServiceAccount.
    """
    from pyopscaffold.dev import place, project, run  # noqa: PLC0415 - so that --help stays quick
    from pyopscaffold.dev.screen import Plain, on_terminal  # noqa: PLC0415
    from pyopscaffold.dev.session import Settings  # noqa: PLC0415
    from pyopscaffold.loader.project import read  # noqa: PLC0415
    from pyopscaffold.loader.root import find_root  # noqa: PLC0415

    root = find_root(Path.cwd())
    settings = Settings(
        root=root,
        project=read(root),
        interpreter=project.python_of(root, python=python),
        namespace=namespace,
        python=python,
        raw_logs=log_format is LogFormat.JSON,
        arguments=tuple(arguments or ()),
    )
    existing = kubeconfig is not None or bool(context)
    if existing and (fresh or nodes is not None):
        raise UsageError("--fresh and --nodes are about the embedded cluster", hint="leave --kubeconfig/--context out")
    target = place.existing(kubeconfig, context) if existing else None
    if target is not None:
        _confirm(place.describe(target), yes=yes)
    with on_terminal() if console.colourful(sys.stdout) else nullcontext(Plain()) as screen:
        if target is not None:
            run.on_cluster(settings, screen, target)
        else:
            run.on_own_cluster(settings, screen, nodes=1 if nodes is None else nodes, fresh=fresh)


def _confirm(cluster: str, *, yes: bool) -> None:
    """Have somebody agree to changes of a cluster that is not ours."""
    what = f"CRDs, roles and samples will be installed into {cluster}"
    if yes:
        console.note(what)
    elif not console.interactive():
        raise UsageError(what, hint="add --yes if that is the cluster you mean")
    elif not typer.confirm(f"{what}. Go on?", err=True):
        raise typer.Abort
