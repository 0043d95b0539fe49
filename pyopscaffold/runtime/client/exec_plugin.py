"""Credentials from a program: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from pyopscaffold.errors import KubeconfigError

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
    from pyopscaffold.runtime.client.credentials import Credential, Credentials
    from pyopscaffold.runtime.clock import Clock

_TIMEOUT = 60.0
_TIMEOUT_WITH_A_PERSON = 600.0
_EARLY = timedelta(seconds=30)


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    kind: str
    api_version: str
    status: _Status


class Exec:
    """What a program prints, over ``base``; asked again shortly before it expires, and when the server refuses it."""

    def __init__(self, plugin: ExecPlugin, config: ClusterConfig, base: Credentials, clock: Clock) -> None:
        self._plugin = plugin
        self._config = config
        self._base = base
        self._clock = clock
        self._lock = asyncio.Lock()
        self._status: _Status | None = None
        self._made: tuple[Credential, _Status, Credential] | None = None

    async def current(self) -> Credential:
        """See Credentials."""
        base = await self._base.current()
        async with self._lock:
            if self._status is None or self._expired(self._status):
                self._status = await self._run()
            status = self._status
            if self._made is None or self._made[0] is not base or self._made[1] is not status:
                certificate, key = status.client_certificate_data.encode(), status.client_key_data.encode()
                self._made = base, status, replace(base, token=status.token, certificate=certificate, key=key)
            return self._made[2]

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        self._base.refused(credential)
        if self._made is not None and credential is self._made[2]:
            self._status = None
        return True

    def _expired(self, status: _Status) -> bool:
        return status.expiration_timestamp is not None and self._clock.now() >= status.expiration_timestamp - _EARLY

    async def _run(self) -> _Status:
        plugin = self._plugin
        what = f"the credential plugin {plugin.command!r}"
        interactive = self._interactive(what)
        environment = {**os.environ, **plugin.env, "KUBERNETES_EXEC_INFO": self._info(interactive=interactive)}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.args,
                env=environment,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=None if interactive else asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise KubeconfigError(f"{what} can't be run: {error.strerror}", hint=plugin.install_hint or None) from error
        limit = _TIMEOUT_WITH_A_PERSON if interactive else _TIMEOUT
        try:
            async with asyncio.timeout(limit):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            raise KubeconfigError(f"{what} gave no answer in {limit:.0f} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            last = (complaint or b"").decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise KubeconfigError(f"{what} failed with exit code {process.returncode}: {last[0]}")
        return self._read(output, what)

    def _read(self, output: bytes, what: str) -> _Status:
        try:
            found = msgspec.json.decode(output, type=_ExecCredential)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise KubeconfigError(f"{what} printed no ExecCredential: {error}") from error
        expected, status = self._plugin.api_version, found.status
        if (found.kind, found.api_version) != ("ExecCredential", expected):
            raise KubeconfigError(
                f"{what} printed the {found.kind} of {found.api_version}, no ExecCredential {expected}"
            )
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise KubeconfigError(f"{what} printed a certificate or a key, not both")
        if not status.token and not status.client_key_data:
            raise KubeconfigError(f"{what} printed neither a token nor a certificate")
        return status

    def _interactive(self, what: str) -> bool:
        mode = self._plugin.interactive_mode
        terminal = mode != "Never" and sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not terminal:
            raise KubeconfigError(
                f"{what} needs a terminal (interactiveMode: Always), and there is none",
                hint="log in first where there is one, or use a credential that needs nobody",
            )
        return terminal

    def _info(self, *, interactive: bool) -> str:
        spec: dict[str, Any] = {"interactive": interactive}
        if self._plugin.cluster_info:
            config = self._config
            cluster = {
                "server": config.server,
                "tls-server-name": config.tls_server_name,
                "insecure-skip-tls-verify": config.insecure,
                "certificate-authority-data": config.ca,
                "proxy-url": config.proxy,
                "disable-compression": not config.compression,
                "config": self._plugin.cluster_config,
            }
            spec["cluster"] = {key: value for key, value in cluster.items() if value}
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()
