"""Find or get the programs of a control plane, and those that make a simulated cluster of it.

In this order: the folder that ``KUBEBUILDER_ASSETS`` names, the per-user store, the official envtest archive, a build
with Go. Only ``ensure`` touches the network; ``find`` looks at this machine alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries import archive, fetch, gobuild, releases, store
from pyopscaffold.testing.binaries.store import PROGRAMS, SIMULATED, Binaries, installed, remove
from pyopscaffold.testing.binaries.versions import DEFAULT, PINNED, resolve

if TYPE_CHECKING:
    from pyopscaffold.testing.binaries.store import Report

    Source = Literal["auto", "archive", "go"]

__all__ = [
    "ASSETS_VARIABLE",
    "DEFAULT",
    "PINNED",
    "PROGRAMS",
    "SIMULATED",
    "Binaries",
    "ensure",
    "find",
    "installed",
    "remove",
    "resolve",
]

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
"""Names a folder with the three programs, as for controller-runtime's envtest."""


def find(version: str | None = None, *, simulated: bool = False) -> Binaries:
    """Give the programs of ``version`` that are on this machine; without a version, the assets folder or the default.

    ``simulated`` asks for those of a simulated cluster too; an assets folder without them is passed over.

    Raises:
        EnvtestError: they are not here; the hint says how to get them.

    """
    found = _assets(version, simulated=simulated) or store.lookup(resolve(version))
    if found and (found.simulate or not simulated):
        return found
    what = "simulated cluster" if simulated else "control plane"
    asked = "" if version is None else f" --version {version}"
    extra = " --simulated" if simulated else ""
    raise EnvtestError(
        f"the {what} of Kubernetes {resolve(version)} is not on this machine",
        hint=f"run `pyopscaffold envtest setup{extra}{asked}`, or set {ASSETS_VARIABLE} to a folder with "
        f"{_listed(simulated=simulated)}",
    )


def ensure(
    version: str | None = None,
    *,
    simulated: bool = False,
    source: Source = "auto",
    index: str | None = None,
    report: Report | None = None,
) -> Binaries:
    """Give the programs of ``version``, fetched or built if they are not here yet.

    ``simulated`` asks for those of a simulated cluster too. ``auto`` tries what is officially built, then Go.
    ``index`` replaces the official index of archives. ``report`` takes progress lines. Processes
    that ask for the same version at once wait for the first.

    Raises:
        EnvtestError: no source gave them; the message has what each said.

    """
    report = report or (lambda _line: None)
    wanted = resolve(version)
    found = _assets(version, simulated=simulated) or store.lookup(wanted)
    if found and (found.simulate or not simulated):
        return found
    with store.locked(wanted, report):
        found = store.lookup(wanted) or _get(wanted, source, archive.index_url(index), report)
        if simulated and not found.simulate:
            _add_simulated(wanted, source, report)
        return found


def _get(version: str, source: Source, index: str, report: Report) -> Binaries:
    said: list[str] = []
    if source != "go":
        try:
            entry = archive.locate(version, index=index)
            with store.placing(version, source="archive") as folder:
                archive.download(entry, folder, report)
        except fetch.Unavailable as error:
            said.append(str(error))
            report(str(error))
        else:
            return _stored(version)
    if source != "archive":
        if gobuild.go_program():
            with store.placing(version, source="go") as folder:
                gobuild.build(version, folder, report)
            return _stored(version)
        said.append("there is no `go` on PATH to build it")
    raise EnvtestError(
        f"cannot get the control plane of Kubernetes {version}: {'; '.join(said)}",
        hint=f"install Go (https://go.dev/dl), go online, or set {ASSETS_VARIABLE} to a folder with {_listed()}",
    )


def _add_simulated(version: str, source: Source, report: Report) -> None:
    """Get what a simulated cluster needs besides; kwok comes from Go only."""
    if source == "archive" or not gobuild.go_program():
        why = "--source archive leaves Go out" if source == "archive" else "there is no `go` on PATH"
        raise EnvtestError(
            f"cannot get the simulated cluster of Kubernetes {version}: kwok is built with Go, and {why}",
            hint="install Go (https://go.dev/dl); without it there is the API server alone",
        )
    with store.adding(version) as folder:
        gobuild.build_kwok(folder, report)
        if source == "go" or not _released(version, folder, report):
            gobuild.build(version, folder, report, programs=releases.PROGRAMS)


def _released(version: str, folder: Path, report: Report) -> bool:
    try:
        releases.download(version, folder, report)
    except fetch.Unavailable as error:
        report(str(error))
        return False
    return True


def _stored(version: str) -> Binaries:
    found = store.lookup(version)
    if found is None:
        raise EnvtestError(f"{store.directory_of(version)} was removed meanwhile", hint="run the command again")
    return found


def _assets(version: str | None, *, simulated: bool) -> Binaries | None:
    """Give what the environment names; None if it names nothing, too little, or another version than was asked for."""
    named = os.environ.get(ASSETS_VARIABLE)
    if not named:
        return None
    directory = Path(named)
    if lacking := store.missing(directory):
        raise EnvtestError(
            f"{ASSETS_VARIABLE} is {named}, which has no executable {', '.join(lacking)}",
            hint=f"unset {ASSETS_VARIABLE}, or let it name a folder with {_listed()}",
        )
    found = Binaries(directory=directory.resolve(), version="", source=ASSETS_VARIABLE)
    if simulated and not found.simulate:
        return None
    return found if version is None or _server_version(found) == resolve(version) else None


def _server_version(binaries: Binaries) -> str:
    """Ask the API server for its version: ``1.37.2``."""
    command = [os.fspath(binaries.kube_apiserver), "--version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvtestError(f"{binaries.kube_apiserver} does not run: {error}") from error
    return answer.strip().rpartition("v")[2]


def _listed(*, simulated: bool = False) -> str:
    programs = (*PROGRAMS, *SIMULATED) if simulated else PROGRAMS
    return f"{', '.join(programs[:-1])} and {programs[-1]}"
