"""``pyopscaffold init``."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UsageError


class License(enum.StrEnum):
    """Licences whose text can be written."""

    APACHE2 = "apache2"
    MIT = "mit"
    NONE = "none"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command()(init)


def init(
    *,
    domain: Annotated[str, typer.Option(help="Suffix of all API groups, such as example.com.")] = "",
    project_name: Annotated[str, typer.Option(help="Name of the project.  [default: the folder's]")] = "",
    image_repository: Annotated[
        str, typer.Option(help="Repository of the operator's image, without a tag.  [default: the project's name]")
    ] = "",
    license: Annotated[License, typer.Option(help="Licence to write.")] = License.APACHE2,  # noqa: A002 - the option's name
    owner: Annotated[str, typer.Option(help="Copyright owner that the licence names.")] = "",
    namespaced: Annotated[bool, typer.Option("--namespaced", help="Watch the operator's own namespace only.")] = False,
    multigroup: Annotated[bool, typer.Option("--multigroup", help="Lay the code out for several API groups.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be written, write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Go on in a folder with files; those are kept.")] = False,
) -> None:
    """Start a project in the current folder."""
    from pathlib import Path  # noqa: PLC0415 - help must not pay for this and the next ones

    from pyopscaffold.files.apply import apply  # noqa: PLC0415
    from pyopscaffold.scaffold.init import InitOptions, init  # noqa: PLC0415

    if not domain:
        if not console.interactive():
            raise UsageError("--domain is missing", hint="give a domain that is yours, such as --domain example.com")
        domain = console.ask("Domain, the suffix of all API groups (such as example.com)")
    options = InitOptions(
        domain=domain,
        name=project_name,
        image=image_repository,
        license=license.value,
        owner=owner,
        namespaced=namespaced,
        multigroup=multigroup,
        force=force,
    )
    made = init(Path.cwd(), options)
    console.changes(made.plan)
    for name, source in made.sources.items():
        console.say(f"pyproject.toml takes {name} from where this tool came from: {source}")
    if dry_run:
        console.say("\nNothing was written (--dry-run).")
        return
    apply(made.plan)
    console.say(f"\nProject {made.project.name} is ready. Next:\n")
    console.say("  pyopscaffold create api --group GROUP --version v1 --kind KIND")
