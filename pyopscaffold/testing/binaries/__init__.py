"""Find or get the programs of a control plane: etcd, kube-apiserver and kubectl.

In this order: the folder that ``KUBEBUILDER_ASSETS`` names, the per-user store, the official envtest archive, a build
with Go. Only ``ensure`` touches the network; ``find`` looks at this machine alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries import archive, gobuild, store
from pyopscaffold.testing.binaries.store import PROGRAMS, Binaries, installed, remove
from pyopscaffold.testing.binaries.versions import DEFAULT, PINNED, resolve

if TYPE_CHECKING:
    from pyopscaffold.testing.binaries.store import Report

    Source = Literal["auto", "archive", "go"]

__all__ = [
    "ASSETS_VARIABLE",
    "DEFAULT",
    "PINNED",
    "PROGRAMS",
    "Binaries",
    "ensure",
    "find",
    "installed",
    "remove",
    "resolve",
]

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
"""Names a folder with the three programs, as for controller-runtime's envtest."""


def find(version: str | None = None) -> Binaries:
    """Give the programs of ``version`` that are on this machine; without a version, the assets folder or the default.

    Raises:
        EnvtestError: they are not here; the hint says how to get them.

    """
    if found := _assets(version) or store.lookup(resolve(version)):
        return found
    asked = "" if version is None else f" --version {version}"
    raise EnvtestError(
        f"the control plane of Kubernetes {resolve(version)} is not on this machine",
        hint=f"run `pyopscaffold envtest setup{asked}`, or set {ASSETS_VARIABLE} to a folder with {_listed()}",
    )


def ensure(
    version: str | None = None, *, source: Source = "auto", index: str | None = None, report: Report | None = None
) -> Binaries:
    """Give the programs of ``version``, fetched or built if they are not here yet.

    ``auto`` tries the official archive, then Go. ``index`` replaces the official index of archives. ``report`` takes
    progress lines. Processes that ask for the same version at once wait for the first.

    Raises:
        EnvtestError: no source gave them; the message has what each said.

    """
    report = report or (lambda _line: None)
    wanted = resolve(version)
    if found := _assets(version) or store.lookup(wanted):
        return found
    with store.locked(wanted, report):
        if found := store.lookup(wanted):
            return found
        return _get(wanted, source, archive.index_url(index), report)


def _get(version: str, source: Source, index: str, report: Report) -> Binaries:
    said: list[str] = []
    if source != "go":
        try:
            entry = archive.locate(version, index=index)
            with store.placing(version, source="archive") as folder:
                archive.download(entry, folder, report)
        except archive.ArchiveUnavailable as error:
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


def _stored(version: str) -> Binaries:
    found = store.lookup(version)
    if found is None:
        raise EnvtestError(f"{store.directory_of(version)} was removed meanwhile", hint="run the command again")
    return found


def _assets(version: str | None) -> Binaries | None:
    """Give what the environment names; None if it names nothing, or another version than was asked for."""
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
    return found if version is None or _server_version(found) == resolve(version) else None


def _server_version(binaries: Binaries) -> str:
    """Ask the API server for its version: ``1.37.2``."""
    command = [os.fspath(binaries.kube_apiserver), "--version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvtestError(f"{binaries.kube_apiserver} does not run: {error}") from error
    return answer.strip().rpartition("v")[2]


def _listed() -> str:
    return f"{', '.join(PROGRAMS[:-1])} and {PROGRAMS[-1]}"
