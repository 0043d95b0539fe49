"""``pyopscaffold envtest``: the binaries of the embedded control plane."""

from __future__ import annotations

import enum
import json
import shlex
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import EnvtestError, UsageError

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer
    from pyopscaffold.testing.binaries import Binaries


class Source(enum.StrEnum):
    """Where binaries may come from."""

    AUTO = "auto"
    ARCHIVE = "archive"
    GO = "go"


class Output(enum.StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"


Version = Annotated[
    str | None,
    typer.Option("--version", metavar="VERSION", help="Kubernetes version: 1.36 or 1.36.3. Default: the newest."),
]
Form = Annotated[Output, typer.Option("--output", "-o", help="How to print it.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    group = typer.Typer(
        name="envtest",
        help="Get and run a control plane for tests, or a simulated cluster.",
        rich_markup_mode=None,
    )
    group.command()(setup)
    group.command("list")(list_)
    group.command()(path)
    group.command()(clean)
    group.command()(run)
    app.add_typer(group)


def setup(
    *,
    version: Version = None,
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="Also what a simulated cluster needs: controllers, scheduler, kwok (by Go)."),
    ] = False,
    source: Annotated[Source, typer.Option(help="auto: the official archive, else a build with Go.")] = Source.AUTO,
    index: Annotated[
        str | None, typer.Option(metavar="URL", help="Another index of archives, such as a mirror's.")
    ] = None,
) -> None:
    """Get the binaries, unless they are here; prints their folder.

    In this order: KUBEBUILDER_ASSETS, the user's cache, the official envtest archive, a build with Go, which
    takes about ten minutes once.
    """
    from pyopscaffold.testing import binaries  # noqa: PLC0415 - not for --help

    found = binaries.ensure(version, simulated=simulated, source=source.value, index=index, report=console.note)
    console.note(f"Kubernetes {found.version or 'as you set it'} is ready (from {found.source})")
    console.say(str(found.directory))


def list_(*, output: Form = Output.TEXT) -> None:
    """Show which versions are here and which are tested against."""
    from pyopscaffold.testing import binaries  # noqa: PLC0415 - not for --help

    here = {found.version: found for found in binaries.installed()}
    versions = [*here, *(version for version in binaries.PINNED if version not in here)]
    rows = [_row(version, here.get(version)) for version in versions]
    if output is Output.JSON:
        console.say(json.dumps(rows, indent=2))
        return
    for row in rows:
        default = " (default)" if row["version"] == binaries.DEFAULT else ""
        simulated = ", with the simulated cluster" if row["simulated"] else ""
        state = f"{row['directory']} (from {row['source']}{simulated})" if row["installed"] else "not installed"
        console.say(f"{row['version']}{default}  {state}")


def path(
    *,
    version: Version = None,
    plain: Annotated[bool, typer.Option("--plain", "-p", help="Print the path alone, for KUBEBUILDER_ASSETS.")] = False,
    output: Form = Output.TEXT,
) -> None:
    """Print the folder of the binaries, as a line for a shell to evaluate; exit code 2 if they are not here."""
    from pyopscaffold.testing import binaries  # noqa: PLC0415 - not for --help

    if plain and output is Output.JSON:
        raise UsageError("--plain and --output json exclude each other", hint="choose one")
    found = binaries.find(version)
    if output is Output.JSON:
        console.say(json.dumps(_row(found.version, found), indent=2))
    elif plain:
        console.say(str(found.directory))
    else:
        console.say(f"export {binaries.ASSETS_VARIABLE}={shlex.quote(str(found.directory))}")


def clean(
    *,
    version: Version = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove every version.")] = False,
) -> None:
    """Remove binaries from the user's cache; what KUBEBUILDER_ASSETS names is left alone."""
    from pyopscaffold.testing import binaries  # noqa: PLC0415 - not for --help

    if everything == (version is not None):
        raise UsageError("say what to remove", hint="either --version VERSION or --all")
    wanted = [found.version for found in binaries.installed()] if version is None else [binaries.resolve(version)]
    removed = [one for one in wanted if binaries.remove(one, console.note)]
    if version is not None and not removed:
        raise EnvtestError(f"Kubernetes {wanted[0]} is not in the cache", hint="`pyopscaffold envtest list` shows it")
    console.say(f"removed {', '.join(removed)}" if removed else "nothing to remove")


def run(
    *,
    version: Version = None,
    kubeconfig: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the admin's kubeconfig.")] = Path(
        "envtest.kubeconfig"
    ),
    simulated: Annotated[
        bool,
        typer.Option("--simulated", help="Also run the controllers, the scheduler, and nodes that kwok plays."),
    ] = False,
    nodes: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="How many nodes the simulated cluster has. Default: 1.")
    ] = None,
) -> None:
    """Run an empty control plane, or a simulated cluster, until Ctrl-C; nothing of it is left afterwards.

    The kubeconfig appears once everything is ready, and goes with it.
    """
    from pyopscaffold.testing import ControlPlane, SimulatedCluster  # noqa: PLC0415 - not for --help

    if kubeconfig.exists():
        raise UsageError(f"{kubeconfig} is there already", hint="name another file by --kubeconfig")
    if nodes is not None and not simulated:
        raise UsageError("a control plane alone has no nodes", hint="add --simulated")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if simulated:
        console.note("starting a simulated cluster …")
        plane: ControlPlane = SimulatedCluster(version=version, nodes=1 if nodes is None else nodes)
    else:
        console.note("starting etcd and kube-apiserver …")
        plane = ControlPlane(version=version)
    with plane as server, ExitStack() as running:
        running.callback(kubeconfig.unlink, missing_ok=True)
        _write_kubeconfig(server, kubeconfig)
        console.say(f"export KUBECONFIG={shlex.quote(str(kubeconfig.absolute()))}")
        console.note(f"{server.url} is ready; Ctrl-C ends it")
        threading.Event().wait()


def _write_kubeconfig(server: ApiServer, path: Path) -> None:
    try:
        server.kubeconfig(path=path)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}", hint="name another file by --kubeconfig") from error


def _row(version: str, found: Binaries | None) -> dict[str, str | bool]:
    return {
        "version": version,
        "installed": found is not None,
        "directory": str(found.directory) if found else "",
        "source": found.source if found else "",
        "simulated": found is not None and found.simulate,
    }
