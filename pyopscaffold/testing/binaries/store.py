"""The per-user store: one folder a version and platform, complete or not there at all."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Report = Callable[[str], None]
    """Takes one line of progress for a person to read."""

PROGRAMS = ("etcd", "kube-apiserver", "kubectl")
"""What the official envtest archive holds, and so what a control plane here is made of."""

SIMULATED = ("kube-controller-manager", "kube-scheduler", "kwok")
"""What a simulated cluster needs besides."""

_SOURCE = ".source"
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, kw_only=True)
class Binaries:
    """A folder with the control plane's programs.

    ``version`` is such as ``1.37.2``, or empty when nobody asked; ``source`` tells where they came from:
    ``KUBEBUILDER_ASSETS``, ``archive`` or ``go``.
    """

    directory: Path
    version: str
    source: str

    @property
    def etcd(self) -> Path:
        """The etcd server."""
        return self.directory / "etcd"

    @property
    def kube_apiserver(self) -> Path:
        """The Kubernetes API server."""
        return self.directory / "kube-apiserver"

    @property
    def kubectl(self) -> Path:
        """The command line client of the same version."""
        return self.directory / "kubectl"

    @property
    def kube_controller_manager(self) -> Path:
        """The controllers; there only if it was asked for a simulated cluster."""
        return self.directory / "kube-controller-manager"

    @property
    def kube_scheduler(self) -> Path:
        """The scheduler; there only if it was asked for a simulated cluster."""
        return self.directory / "kube-scheduler"

    @property
    def kwok(self) -> Path:
        """The simulated kubelet; there only if it was asked for a simulated cluster."""
        return self.directory / "kwok"

    @property
    def simulate(self) -> bool:
        """Whether a simulated cluster can be made of it."""
        return not missing(self.directory, SIMULATED)


def target() -> tuple[str, str]:
    """Operating system and architecture of this machine, in Go's words: ``("linux", "amd64")``."""
    machine = platform.machine().lower()
    return sys.platform, _MACHINES.get(machine, machine)


def root() -> Path:
    """Where binaries are kept for the user: below ``XDG_CACHE_HOME``, else where the platform keeps caches."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if Path(named).is_absolute():
        base = Path(named)
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "pyopscaffold" / "envtest"


def directory_of(version: str) -> Path:
    """Where the programs of ``version`` are, or would be."""
    return root() / "-".join((version, *target()))


def missing(directory: Path, programs: tuple[str, ...] = PROGRAMS) -> tuple[str, ...]:
    """Those of ``programs`` that ``directory`` lacks."""
    return tuple(name for name in programs if not os.access(directory / name, os.X_OK))


def lookup(version: str) -> Binaries | None:
    """Give the stored programs of ``version``, or None."""
    directory = directory_of(version)
    if missing(directory):
        return None
    mark = directory / _SOURCE
    source = mark.read_text().strip() if mark.is_file() else "unknown"
    return Binaries(directory=directory, version=version, source=source)


def installed() -> tuple[Binaries, ...]:
    """All that is stored for this platform, newest version first."""
    suffix = "-".join(("", *target()))
    versions = [found.name.removesuffix(suffix) for found in root().glob(f"[0-9]*{suffix}")]
    versions.sort(key=lambda version: [int(part) for part in version.split(".") if part.isdigit()], reverse=True)
    return tuple(found for version in versions if (found := lookup(version)))


@contextmanager
def locked(version: str, report: Report) -> Iterator[None]:
    """Hold the only right to change what is stored of ``version``, among all processes of the user.

    The lock is the kernel's (``flock``), so a killed holder leaves none behind. A program that it started with
    ``close_fds=False`` holds it too, so nobody builds beside an orphan that still writes. The lock's file stays:
    removing it would let a third process lock a new file while a second still waits on the old one.
    """
    with _writable(), _lock_file(version).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another process is getting Kubernetes {version}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        os.set_inheritable(file.fileno(), True)  # noqa: FBT003 - positional in the standard library
        yield


@contextmanager
def placing(version: str, *, source: str) -> Iterator[Path]:
    """Give an empty folder to fill; it becomes the stored one when the block ends well, else it is removed.

    Call it under ``locked(version)``.
    """
    final = directory_of(version)
    partial = final.with_name(f".partial-{final.name}")
    with _writable():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
            if lacking := missing(partial):
                raise EnvtestError(f"the {source} of Kubernetes {version} gave no {', '.join(lacking)}")
            (partial / _SOURCE).write_text(f"{source}\n")
            shutil.rmtree(final, ignore_errors=True)
            partial.replace(final)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def adding(version: str) -> Iterator[Path]:
    """Give an empty folder; when the block ends well, what is in it joins the stored programs of ``version``.

    Call it under ``locked(version)``.
    """
    final = directory_of(version)
    partial = final.with_name(f".partial-{final.name}")
    with _writable():
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
            for program in partial.iterdir():
                program.replace(final / program.name)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def remove(version: str, report: Report) -> bool:
    """Forget ``version``; False if it was not stored."""
    directory = directory_of(version)
    with locked(version, report):
        if not directory.exists():
            return False
        shutil.rmtree(directory)
    return True


def _lock_file(version: str) -> Path:
    locks = root() / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    return locks / directory_of(version).name


@contextmanager
def _writable() -> Iterator[None]:
    """Say which folder it is about when the store can't be written."""
    try:
        yield
    except OSError as error:
        raise EnvtestError(
            f"cannot write the store of control-plane binaries, {root()}: {error.strerror or error}",
            hint="make the folder writable, set XDG_CACHE_HOME to another, or set KUBEBUILDER_ASSETS",
        ) from error
