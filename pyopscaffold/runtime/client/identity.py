"""Who the client is to the server, and how it trusts it, for any transport."""

from __future__ import annotations

import logging
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar
from urllib.parse import quote

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.credentials import Credential, credentials_of

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.config import ClusterConfig
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

_UNAUTHORIZED = 401
_HEADER_NAME = "!#$&'*+-.^_`|~"  # what may stand in a header's name beside letters and digits


class _Answer(Protocol):
    @property
    def status(self) -> int: ...


A = TypeVar("A", bound=_Answer)
Trust: TypeAlias = Callable[[ssl.SSLContext | None], Awaitable[None]]


class Identity:
    """Has requests sent with what the configuration says now.

    ``trust`` is told how to make new connections (None: without TLS), at first and whenever certificates change.
    """

    def __init__(self, config: ClusterConfig, clock: Clock, trust: Trust) -> None:
        self._config = config
        self._credentials = credentials_of(config, clock)
        self._trust = trust
        self._credential: Credential | None = None
        self._connects = False

    async def exchange(self, send: Callable[[str], Awaitable[A]], *, drop: Callable[[A], None] | None = None) -> A:
        """Return the answer to ``send(token)``; when it is a 401 and there is another token, of a second try."""
        credential = await self._current()
        answer = await send(credential.token)
        if answer.status == _UNAUTHORIZED and self._credentials.refused(credential):
            renewed = await self._current()
            if renewed != credential:
                if drop is not None:
                    drop(answer)
                answer = await send(renewed.token)
        return answer

    async def _current(self) -> Credential:
        credential = await self._credentials.current()
        if self._connects and credential is self._credential:
            return credential
        previous, self._credential = self._credential, credential
        if self._connects and previous is not None and credential.tls == previous.tls:
            return credential
        try:
            context = _ssl_context(self._config, credential)
        except KubeconfigError as error:
            if not self._connects:
                raise
            # files that are written one after the other do not fit for a moment
            log.warning("%s: the last ones serve on", error)
            return credential
        self._connects = True
        await self._trust(context)
        return credential


def headers_of(config: ClusterConfig, user_agent: str) -> list[tuple[str, str]]:
    """Return what goes with every request: who asks, and for whom."""
    headers = [("User-Agent", user_agent)]
    if config.impersonate_user:
        headers.append(("Impersonate-User", config.impersonate_user))
    if config.impersonate_uid:
        headers.append(("Impersonate-Uid", config.impersonate_uid))
    headers += [("Impersonate-Group", group) for group in config.impersonate_groups]
    for name, values in config.impersonate_extra.items():
        key = f"Impersonate-Extra-{quote(name, safe=_HEADER_NAME)}"
        headers += [(key, value) for value in values]
    return headers


def _ssl_context(config: ClusterConfig, credential: Credential) -> ssl.SSLContext | None:
    if not config.server.startswith("https://"):
        return None
    try:
        context = ssl.create_default_context(cadata=credential.ca.decode("ascii") if credential.ca else None)
    except (ssl.SSLError, ValueError) as error:
        raise KubeconfigError(f"the CA certificate for {config.server} is malformed: {error}") from error
    # Python 3.13 refuses certificates without the extensions of RFC 5280 that many clusters' CAs leave out; Go does not
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if credential.certificate:
        _load_certificate(context, credential, config.server)
    return context


def _load_certificate(context: ssl.SSLContext, credential: Credential, server: str) -> None:
    # OpenSSL's Python binding takes files only; mkstemp makes them private to the user
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "client.pem")
        path.touch(mode=0o600)
        path.write_bytes(credential.certificate + b"\n" + credential.key)
        try:
            context.load_cert_chain(path)
        except (ssl.SSLError, ValueError) as error:
            raise KubeconfigError(f"the client certificate for {server} is malformed: {error}") from error
