"""``pyopscaffold create api``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UsageError

if TYPE_CHECKING:
    from pyopscaffold.scaffold.api import CreatedApi


Image = Annotated[
    str | None, typer.Option(metavar="IMAGE:TAG", help="Write an operator that runs this image in a Deployment.")
]
Ports = Annotated[
    list[int] | None,
    typer.Option(metavar="PORT", help="Port that the image listens on; adds a Service and probes. Repeatable."),
]
Command = Annotated[
    str | None, typer.Option(metavar="'WORD...'", help="Command to run in the image, written as for a shell.")
]
User = Annotated[
    int | None, typer.Option(metavar="UID", help="User that the image runs as, where it does not name one itself.")
]


def register(app: typer.Typer) -> None:
    """Add the verb and what it creates."""
    create = typer.Typer(rich_markup_mode=None)
    create.command(name="api")(api)
    app.add_typer(create, name="create", help="Add to a project.")

    @create.callback()
    def options() -> None: ...


def api(
    *,
    group: Annotated[str | None, typer.Option(help="API group before the domain; '' for the bare domain.")] = None,
    version: Annotated[str, typer.Option(help="API version, such as v1 or v1beta1.")] = "",
    kind: Annotated[str, typer.Option(help="Kind, in CamelCase.")] = "",
    plural: Annotated[str | None, typer.Option(help="Resource name.  [default: the kind's English plural]")] = None,
    resource: Annotated[bool, typer.Option("--resource/--no-resource", help="Write the types.")] = True,
    controller: Annotated[
        bool | None,
        typer.Option(
            "--controller/--no-controller",
            help="Write a reconciler and tests.  [default: unless another version of the kind has one]",
            show_default=False,
        ),
    ] = None,
    namespaced: Annotated[
        bool | None,
        typer.Option(
            "--namespaced/--cluster",
            help="Scope of the objects.  [default: namespaced]",
            show_default=False,
        ),
    ] = None,
    image: Image = None,
    port: Ports = None,
    command: Command = None,
    run_as_user: User = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write missing files of an API that is there.")] = False,
) -> None:
    """Add an API: its types, a reconciler that works, and tests."""
    from pathlib import Path  # noqa: PLC0415 - help must not pay for this and the next ones

    from pyopscaffold.files.apply import apply  # noqa: PLC0415
    from pyopscaffold.loader.root import find_root  # noqa: PLC0415
    from pyopscaffold.scaffold.api import ApiOptions, create_api  # noqa: PLC0415
    from pyopscaffold.scaffold.workload import ImageOptions  # noqa: PLC0415

    root = find_root(Path.cwd())
    _check_given({"--group": group, "--version": version or None, "--kind": kind or None})
    options = ApiOptions(
        group=console.ask("Group, before the domain (may be empty)", default="") if group is None else group,
        version=version or console.ask("Version", default="v1"),
        kind=kind or console.ask("Kind, in CamelCase"),
        plural=plural,
        resource=resource,
        controller=controller,
        namespaced=namespaced,
        container=ImageOptions(image=image, ports=tuple(port or ()), command=command, run_as_user=run_as_user),
        force=force,
    )
    made = create_api(root, options)
    console.changes(made.plan)
    if dry_run:
        console.say("\nNothing was written (--dry-run).")
        return
    apply(made.plan)
    _next_steps(made)


def _check_given(options: dict[str, str | None]) -> None:
    """Refuse to go on without what nobody is there to be asked for."""
    missing = [option for option, value in options.items() if value is None]
    if missing and not console.interactive():
        raise UsageError(f"missing: {', '.join(missing)}", hint="see pyopscaffold create api --help")


def _next_steps(made: CreatedApi) -> None:
    api = made.resource
    parts = [part for part, there in (("types", api.has_api), ("reconciler", api.has_controller)) if there]
    edit = f"Edit its {' and '.join(parts)}, then:"
    console.say(f"\n{api.kind} ({api.api_group}/{api.version}) is ready. {edit}\n")
    console.say("  make manifests   # CRD, roles, sample and chart from the Python types")
    console.say("  make test        # also on a real API server")
    console.say("  make install run # against your cluster")
    if api.has_controller and api.workload and api.workload.run_as_user is None:
        console.note(
            f"\nnote: pods may not run as root; if {api.workload.image} does, set runAsUser in the reconciler's pod()"
        )
