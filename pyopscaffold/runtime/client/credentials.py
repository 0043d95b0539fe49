"""Who we are, kept fresh: tokens expire, are rotated on disk, or come from a program."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import msgspec

from pyopscaffold.errors import KubeconfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
    from pyopscaffold.runtime.clock import Clock

_REREAD_AFTER = 60.0
_EXEC_TIMEOUT = 60.0
_EARLY = timedelta(seconds=30)


@dataclass(frozen=True)
class Credential:
    """What a request is sent with; certificate and key are PEM. Empty: anonymous."""

    token: str = field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)


class Credentials(Protocol):
    """A source of credentials."""

    async def current(self) -> Credential:
        """Return what to use now; raises KubeconfigError where there is none to be had."""
        ...

    def refused(self, credential: Credential) -> bool:
        """Take note that the server answered 401 to it; whether asking again may bring another."""
        ...


class Fixed:
    """Credentials that never change."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def current(self) -> Credential:
        """See Credentials."""
        return self._credential

    def refused(self, credential: Credential) -> bool:  # noqa: ARG002
        """See Credentials."""
        return False


class TokenFile:
    """A token in a file that the kubelet rotates: read again each minute, and when the server refuses it."""

    def __init__(self, path: Path, base: Credential, clock: Clock) -> None:
        self._path = path
        self._base = base
        self._clock = clock
        self._credential: Credential | None = None
        self._read_at = 0.0

    async def current(self) -> Credential:
        """See Credentials."""
        now = self._clock.monotonic()
        if self._credential is None or now - self._read_at >= _REREAD_AFTER:
            try:
                token = self._path.read_text(encoding="utf-8").strip()
            except OSError as error:
                if self._credential is None:
                    raise KubeconfigError(f"the token file {self._path} can't be read: {error.strerror}") from error
                return self._credential  # a rotation under way; the old token serves until refused
            self._read_at = now
            self._credential = Credential(token, self._base.certificate, self._base.key)
        return self._credential

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        if credential is self._credential:
            self._read_at = self._clock.monotonic() - _REREAD_AFTER
        return True


class _ExecStatus(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct):
    status: _ExecStatus


class Exec:
    """Credentials printed by a program; asked again shortly before they expire, and when the server refuses them."""

    def __init__(self, plugin: ExecPlugin, config: ClusterConfig, clock: Clock) -> None:
        self._plugin = plugin
        self._config = config
        self._clock = clock
        self._lock = asyncio.Lock()
        self._credential: Credential | None = None
        self._expires: datetime | None = None

    async def current(self) -> Credential:
        """See Credentials."""
        async with self._lock:
            expired = self._expires is not None and self._clock.now() >= self._expires - _EARLY
            if self._credential is None or expired:
                status = await self._run()
                self._expires = status.expiration_timestamp
                self._credential = Credential(
                    status.token, status.client_certificate_data.encode(), status.client_key_data.encode()
                )
            return self._credential

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        if credential is self._credential:
            self._credential = None
        return True

    async def _run(self) -> _ExecStatus:
        plugin = self._plugin
        what = f"the credential plugin {plugin.command!r}"
        environment = {**os.environ, **plugin.env, "KUBERNETES_EXEC_INFO": self._info()}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.args,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise KubeconfigError(f"{what} can't be run: {error.strerror}", hint=plugin.install_hint or None) from error
        try:
            async with asyncio.timeout(_EXEC_TIMEOUT):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            raise KubeconfigError(f"{what} gave no answer in {_EXEC_TIMEOUT:.0f} s") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode != 0:
            last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
            raise KubeconfigError(f"{what} failed with exit code {process.returncode}: {last[0]}")
        try:
            return msgspec.json.decode(output, type=_ExecCredential).status
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise KubeconfigError(f"{what} printed no ExecCredential: {error}") from error

    def _info(self) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if self._plugin.cluster_info:
            config = self._config
            spec["cluster"] = {
                "server": config.server,
                "tls-server-name": config.tls_server_name,
                "insecure-skip-tls-verify": config.insecure,
                "certificate-authority-data": config.ca,
                "proxy-url": config.proxy,
            }
        info = {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}
        return msgspec.json.encode(info).decode()


def credentials_of(config: ClusterConfig, clock: Clock) -> Credentials:
    """Return the source of credentials that a configuration names."""
    if config.exec_plugin is not None:
        return Exec(config.exec_plugin, config, clock)
    fixed = Credential(config.token, config.client_certificate, config.client_key)
    return TokenFile(config.token_file, fixed, clock) if config.token_file else Fixed(fixed)
