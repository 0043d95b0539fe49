"""A real etcd and kube-apiserver as child processes on loopback.

etcd listens on Unix sockets in the control plane's private folder, so the API server's is the only port, and nobody
else on the machine can reach the data.
"""

from __future__ import annotations

import json
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from pyopscaffold.errors import ApiError, ConnectionFailed, EnvtestError
from pyopscaffold.testing import audit as audit_log
from pyopscaffold.testing import credentials
from pyopscaffold.testing.binaries import find
from pyopscaffold.testing.children import Children
from pyopscaffold.testing.server import ApiServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType

    from pyopscaffold.testing.binaries import Binaries
    from pyopscaffold.testing.rest import RestClient

_API_SERVER = "kube-apiserver"
_ETCD = "etcd"
_PORT_TAKEN = "address already in use"
"""What Go says of a port that another socket is bound to, on Linux and macOS."""
_ATTEMPTS = 5
_POLL_SECONDS = 0.05
_PROBE_SECONDS = 1.0
"""Short, since it may be another program that listens at the port, and says nothing."""
_STOP_SECONDS = 5.0
_LOG_LINES = 12


class Options(TypedDict, total=False):
    """What ``ControlPlane`` takes."""

    binaries: Binaries | None
    version: str | None
    users: Sequence[str]
    audit: bool
    admission_plugins: Sequence[str]
    arguments: Sequence[str]
    port: int | None
    directory: Path | None
    timeout: float


class ControlPlane:
    """One etcd and one API server; use it as a context manager, or ``start`` and ``stop`` it.

    All that it starts ends with ``stop``, or when this process ends, be it by Ctrl-C or SIGKILL.

    Args:
        binaries: the programs; found by ``version`` when not given.
        version: Kubernetes version as ``binaries.find`` takes it.
        users: further identities by name, without any right until RBAC gives them some. ``admin`` is always there.
        audit: keep a record of every request, for ``ApiServer.audit_log``.
        admission_plugins: to switch on beside the default ones, such as ``OwnerReferencesPermissionEnforcement``.
        arguments: further flags of kube-apiserver; they win over ours.
        port: the API server's; a free one by default.
        directory: where the data, keys and tokens stay for the next start with it, by one control plane at a time; it
            must be private to the user. By default they go with the control plane.
        timeout: seconds that the API server may take to become ready.

    """

    masters: tuple[str, ...] = ()
    """Identities beside ``admin`` that may do everything."""

    makes_service_accounts = False
    """Whether something makes a ServiceAccount in each namespace, so that pods may be required to have one."""

    def __init__(
        self,
        *,
        binaries: Binaries | None = None,
        version: str | None = None,
        users: Sequence[str] = (),
        audit: bool = False,
        admission_plugins: Sequence[str] = (),
        arguments: Sequence[str] = (),
        port: int | None = None,
        directory: Path | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._binaries = binaries
        self._version = version
        self._users = tuple(users)
        self._audit = audit or audit_log.is_kept()
        self._admission_plugins = tuple(admission_plugins)
        self._arguments = tuple(arguments)
        self._port = port
        self._directory = directory
        self._timeout = timeout
        self._children: Children | None = None
        self._server: ApiServer | None = None
        self._command: list[str] = []

    @property
    def runs(self) -> bool:
        """Whether it was started and not stopped since."""
        return self._server is not None

    @property
    def server(self) -> ApiServer:
        """The running API server.

        Raises:
            EnvtestError: it was not started.

        """
        if self._server is None:
            raise EnvtestError("the control plane does not run", hint="use it in a with statement, or call start()")
        return self._server

    @property
    def api_server_log(self) -> Path:
        """Where kube-apiserver writes its log; it goes when the control plane stops."""
        return self.server.directory / f"{_API_SERVER}.log"

    def start(self) -> ApiServer:
        """Start both and wait until the API server is ready.

        Raises:
            EnvtestError: the programs are not there, or one does not come up; with the last lines of its log.

        """
        if self._server is not None:
            return self._server
        binaries = self._programs()
        self._children = children = Children()
        try:
            self._server = self._prepare(binaries, children.directory)
            self._start_etcd(binaries, children)
            self._start_at_some_port(binaries)
        except BaseException:
            self.stop()
            raise
        return self.server

    def stop(self) -> None:
        """Stop the API server, then etcd, and remove their folder; harmless when nothing runs."""
        children, self._children, self._server = self._children, None, None
        if children is not None:
            children.close()

    def stop_api_server(self, *, grace: float = _STOP_SECONDS) -> None:
        """Stop the API server alone, as an outage; with ``grace=0`` it is killed. Its data stays."""
        self._running().stop(_API_SERVER, grace=grace)

    def start_api_server(self) -> None:
        """Start the API server again at the same address and wait until it is ready."""
        self._running().start(_API_SERVER, self._command, log=self.api_server_log)
        self._wait_until_ready()

    def __enter__(self) -> ApiServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _programs(self) -> Binaries:
        return self._binaries or find(self._version)

    def _prepare(self, binaries: Binaries, directory: Path) -> ApiServer:
        """Write keys, tokens and the audit policy; they serve every attempt."""
        authority, identities = credentials.prepare(self._kept(directory), self._users, masters=self.masters)
        (directory / "audit-policy.json").write_text(json.dumps(audit_log.POLICY))
        audit_log.prepare(directory / "audit.log")
        return ApiServer(
            url="",
            ca=authority,
            directory=directory,
            identities=identities,
            kubectl=binaries.kubectl,
            audited=self._audit,
        )

    def _kept(self, directory: Path) -> Path:
        """Give the folder of what stays; sockets and logs are in the control plane's own, whose path is short."""
        return self._directory or directory

    def _start_etcd(self, binaries: Binaries, children: Children) -> None:
        folder = children.directory
        # Nobody calls the advertised addresses: a cluster of one has no peers, and the API server goes by its own flag.
        # etcd 3.6 wants them to look like TCP, where 3.7 takes a socket.
        advertised = "http://127.0.0.1:2380"
        command = [
            str(binaries.etcd),
            f"--data-dir={self._kept(folder)}/etcd",
            f"--listen-client-urls=unix://{folder}/etcd.sock",
            f"--advertise-client-urls={advertised}",
            f"--listen-peer-urls=unix://{folder}/peer.sock",
            f"--initial-advertise-peer-urls={advertised}",
            f"--initial-cluster=default={advertised}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]
        children.start(_ETCD, command, log=folder / "etcd.log")

    def _start_at_some_port(self, binaries: Binaries) -> None:
        """Start the API server; should somebody take the free port before it does, try another."""
        for attempt in range(_ATTEMPTS):
            port = free_port(self._port)
            self._server = replace(self.server, url=f"https://127.0.0.1:{port}")
            self._command = self._api_server_command(binaries, port)
            self.api_server_log.unlink(missing_ok=True)
            try:
                self.start_api_server()
            except EnvtestError:
                log = self.api_server_log.read_text(errors="replace")
                if _PORT_TAKEN not in log or attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _api_server_command(self, binaries: Binaries, port: int) -> list[str]:
        folder = self.server.directory
        kept = self._kept(folder)
        command = [
            str(binaries.kube_apiserver),
            f"--etcd-servers=unix://{folder}/etcd.sock",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={folder}",
            f"--tls-cert-file={kept}/tls.crt",
            f"--tls-private-key-file={kept}/tls.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={kept}/sa.key",
            f"--service-account-signing-key-file={kept}/sa.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            f"--token-auth-file={kept}/tokens.csv",
            "--allow-privileged=true",
        ]
        if not self.makes_service_accounts:
            command.append("--disable-admission-plugins=ServiceAccount")
        if self._admission_plugins:
            command.append(f"--enable-admission-plugins={','.join(self._admission_plugins)}")
        if self._audit:
            command += [f"--audit-policy-file={folder}/audit-policy.json", f"--audit-log-path={folder}/audit.log"]
        return [*command, *self._arguments]

    def _wait_until_ready(self) -> None:
        client = self.server.client(timeout=_PROBE_SECONDS)
        try:
            self._wait_for(lambda: _is_ready(client), (_ETCD, _API_SERVER))
        finally:
            client.close()

    def _wait_for(self, reached: Callable[[], bool], programs: Sequence[str]) -> None:
        """Wait until ``reached``; the last of ``programs`` is blamed when that takes too long."""
        children = self._running()
        deadline = time.monotonic() + self._timeout
        while not reached():
            for name in programs:
                if (code := children.exit_code(name)) is not None:
                    raise EnvtestError(f"{name} ended with exit code {code}: {self._last_lines(name)}")
            if time.monotonic() > deadline:
                waited = f"not ready after {self._timeout:.0f} s"
                raise EnvtestError(f"{programs[-1]} is {waited}: {self._last_lines(programs[-1])}")
            time.sleep(_POLL_SECONDS)

    def _last_lines(self, name: str) -> str:
        text = (self.server.directory / f"{name}.log").read_text(errors="replace")
        return "\n".join(["", *text.strip().splitlines()[-_LOG_LINES:]])

    def _running(self) -> Children:
        if self._children is None:
            raise EnvtestError("the control plane does not run", hint="use it in a with statement, or call start()")
        return self._children


def free_port(wanted: int | None = None) -> int:
    """Give a TCP port of loopback that is free at this moment: ``wanted``, or any.

    Raises:
        EnvtestError: the wanted one is not free.

    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted or 0))
        except OSError as error:
            raise EnvtestError(f"port {wanted} is not free: {error.strerror}", hint="name another port") from error
        port: int = probe.getsockname()[1]
        return port


def _is_ready(client: RestClient) -> bool:
    try:
        return client.text("/readyz") == "ok"
    except (ApiError, ConnectionFailed):
        return False
