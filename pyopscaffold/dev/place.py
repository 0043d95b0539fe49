"""The cluster to work on: an embedded one that is kept, or one that a kubeconfig names."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyopscaffold.dev import home
from pyopscaffold.errors import EnvtestError, KubeconfigError, ProjectError
from pyopscaffold.runtime.client.config import ClusterConfig, load
from pyopscaffold.testing.binaries import find
from pyopscaffold.testing.controlplane import ControlPlane, free_port
from pyopscaffold.testing.simulated.cluster import SimulatedCluster

if TYPE_CHECKING:
    from types import TracebackType

    from pyopscaffold.testing import ApiServer
    from pyopscaffold.testing.binaries import Binaries

_KUBECTL_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Place:
    """How to reach a cluster; ``kubeconfig`` and ``context`` are empty where kubectl's own rules find it."""

    config: ClusterConfig
    kubectl: Path
    kubeconfig: Path | None
    context: str

    def run_kubectl(self, *arguments: str) -> str:
        """Run kubectl on this cluster and give what it printed.

        Raises:
            ProjectError: it failed; the message is its own.

        """
        command = [str(self.kubectl), *arguments]
        if self.kubeconfig is not None:
            command += ["--kubeconfig", str(self.kubeconfig)]
        if self.context:
            command += ["--context", self.context]
        what = f"kubectl {' '.join(arguments[:2])}"
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_KUBECTL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ProjectError(f"{what}: no answer in {_KUBECTL_SECONDS:.0f} s") from error
        if done.returncode:
            said = done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}"
            raise ProjectError(f"{what}: {said}")
        return done.stdout


class Embedded:
    """The project's own cluster; use it as a context manager. What is in it stays in ``folder`` for the next run.

    It has simulated nodes; with ``nodes=0`` it is an API server alone. ``fresh`` drops what an earlier run left.
    """

    def __init__(self, folder: Path, *, nodes: int = 1, fresh: bool = False) -> None:
        self._folder = folder
        self._nodes = nodes
        self._binaries = _binaries(nodes)
        self._data = home.data(folder, fresh=fresh)
        self._plane: ControlPlane | None = None

    @property
    def kubeconfig(self) -> Path:
        """The admin's, at the same path in every run."""
        return self._folder / home.KUBECONFIG

    def start(self) -> Place:
        """Start it, at the port that it had unless somebody took that meanwhile.

        Raises:
            EnvtestError: the programs are not there, or one does not come up.

        """
        port = _free(home.last_port(self._folder))
        if self._nodes:
            self._plane = SimulatedCluster(binaries=self._binaries, nodes=self._nodes, directory=self._data, port=port)
        else:
            self._plane = ControlPlane(binaries=self._binaries, directory=self._data, port=port)
        try:
            server: ApiServer = self._plane.start()
        except EnvtestError as error:
            hint = error.hint or "should what an earlier run left be the cause: --fresh drops it"
            raise EnvtestError(str(error), hint=hint) from error
        home.remember_port(self._folder, urlsplit(server.url).port or 0)
        server.kubeconfig(path=self.kubeconfig)
        return Place(config=load(self.kubeconfig), kubectl=server.kubectl, kubeconfig=self.kubeconfig, context="")

    def stop(self) -> None:
        """Stop it; harmless when it does not run."""
        plane, self._plane = self._plane, None
        if plane is not None:
            plane.stop()

    def restart(self) -> Place:
        """Start it again, with all that is in it."""
        self.stop()
        return self.start()

    def __enter__(self) -> Place:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def existing(kubeconfig: Path | None, context: str) -> Place:
    """Find the cluster that a kubeconfig names, as kubectl does.

    Raises:
        KubeconfigError: there is none, or it is broken; or there is no kubectl.

    """
    return Place(config=load(kubeconfig, context), kubectl=_any_kubectl(), kubeconfig=kubeconfig, context=context)


def describe(place: Place) -> str:
    """Say which cluster that is: ``kind-dev at https://127.0.0.1:6443, as kind-dev``."""
    view = json.loads(place.run_kubectl("config", "view", "--minify", "--output=json"))
    context = view["contexts"][0]
    return f"{context['name']} at {place.config.server}, as {context['context'].get('user', 'nobody')}"


def _binaries(nodes: int) -> Binaries:
    try:
        return find(simulated=nodes > 0)
    except EnvtestError as error:
        without = "; or do without nodes and controllers: --nodes 0" if nodes else ""
        raise EnvtestError(str(error), hint=f"{error.hint}{without}") from error


def _any_kubectl() -> Path:
    if on_path := shutil.which("kubectl"):
        return Path(on_path)
    try:
        return find().kubectl
    except EnvtestError as error:
        raise KubeconfigError("there is no kubectl on PATH", hint=f"install it, or {error.hint}") from error


def _free(port: int | None) -> int | None:
    """Give ``port`` if it is free, else None: the kubeconfig is written anew then, at its old path."""
    try:
        return port and free_port(port)
    except EnvtestError:
        return None
