"""Who we are and whom we trust, kept fresh: tokens expire, and files are rotated under a running operator."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from pyopscaffold.errors import KubeconfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.runtime.client.config import ClusterConfig
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

_REREAD_AFTER = 60.0


@dataclass(frozen=True)
class Credential:
    """What connections are made and requests sent with; certificates and key are PEM. Without token: anonymous."""

    token: str = field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    ca: bytes = b""

    @property
    def tls(self) -> tuple[bytes, bytes, bytes]:
        """What a connection is made with: another one needs other connections."""
        return self.certificate, self.key, self.ca


class Credentials(Protocol):
    """A source of credentials; gives the same object again as long as nothing has changed."""

    async def current(self) -> Credential:
        """Return what to use now; raises KubeconfigError where there is none to be had."""
        ...

    def refused(self, credential: Credential) -> bool:
        """Take note that the server answered 401 to it; whether asking again may bring another."""
        ...


class Given:
    """What a configuration has; of it, what lies in files is read again each minute, and after a refusal.

    The kubelet renews a service account's token with a fifth of its life left, two minutes at least: a minute is in
    time. A file that can't be read for a moment, or is empty, keeps the value it had.
    """

    def __init__(self, config: ClusterConfig, clock: Clock) -> None:
        paths = {
            "token": config.token_file,
            "certificate": config.client_certificate_file,
            "key": config.client_key_file,
            "ca": config.ca_file,
        }
        self._files = {name: path for name, path in paths.items() if path}
        self._clock = clock
        self._credential = Credential(config.token, config.client_certificate, config.client_key, config.ca)
        self._read_at: float | None = None

    async def current(self) -> Credential:
        """See Credentials."""
        now = self._clock.monotonic()
        if self._files and (self._read_at is None or now - self._read_at >= _REREAD_AFTER):
            self._read()
            self._read_at = now
        return self._credential

    def refused(self, credential: Credential) -> bool:  # noqa: ARG002 - reading a file twice costs nothing
        """See Credentials."""
        self._read_at = None
        return bool(self._files)

    def _read(self) -> None:
        found: dict[str, str | bytes] = {}
        for name, path in self._files.items():
            try:
                content = path.read_bytes().strip()
            except OSError as error:
                self._keep(name, path, error.strerror or "")
                continue
            if content:
                found[name] = content.decode(errors="replace") if name == "token" else content
            else:
                self._keep(name, path, "it is empty")
        renewed = replace(self._credential, **found)  # type: ignore[arg-type]  # str for the token, bytes for the rest
        if renewed != self._credential:
            self._credential = renewed

    def _keep(self, name: str, path: Path, reason: str) -> None:
        if not getattr(self._credential, name):
            raise KubeconfigError(f"the {name} file {path} can't be read: {reason}")
        log.warning("the %s file %s can't be read (%s): the last content serves on", name, path, reason)


def credentials_of(config: ClusterConfig, clock: Clock) -> Credentials:
    """Return the source of credentials that a configuration names."""
    base = Given(config, clock)
    if config.exec_plugin is not None:
        from pyopscaffold.runtime.client.exec_plugin import Exec  # noqa: PLC0415 - a pod has none

        return Exec(config.exec_plugin, config, base, clock)
    if config.oidc is not None:
        from pyopscaffold.runtime.client.oidc import Oidc  # noqa: PLC0415 - a pod has none

        return Oidc(config.oidc, base, clock)
    return base
