"""The transport over aiohttp, and the client most callers want. Nothing else imports aiohttp for client work."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from pyopscaffold import __version__
from pyopscaffold.errors import ConnectionFailed, KubeconfigError
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.credentials import Credential, credentials_of
from pyopscaffold.runtime.client.direct import ConnectTimeoutError, Pool
from pyopscaffold.runtime.client.failure import reason_of
from pyopscaffold.runtime.client.proxy import proxy_from_environment
from pyopscaffold.runtime.client.transport import Request, Response, Stream
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.config import ClusterConfig

OnRequest: TypeAlias = Callable[[str, str, str], None]
"""Called with method, HTTP status (``<error>`` without one) and host:port after each exchange."""

log = logging.getLogger(__name__)

_UNAUTHORIZED = 401
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_READ_BUFFER = 2**18
_IDLE_CONNECTION = 90.0
_HEADER_NAME = "!#$&'*+-.^_`|~"  # what may stand in a header's name beside letters and digits
_SYSTEMS = {"win32": "windows"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def user_agent(name: str = "", version: str = "") -> str:
    """Return ``name/version (os/arch) pyopscaffold/x``; the name defaults to that of the program."""
    program = name or Path(sys.argv[0]).name or "unknown"
    system = _SYSTEMS.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return (
        f"{program}/{version or 'unknown'} ({system}/{_ARCHITECTURES.get(machine, machine)}) pyopscaffold/{__version__}"
    )


class HttpTransport:
    """A :class:`~pyopscaffold.runtime.client.transport.Transport` over aiohttp's connection pool.

    ``connect_timeout`` (seconds) bounds the making of a connection, with TLS. When certificates are renewed, new
    requests travel on new connections, and what is under way ends on the old ones.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str,
        on_request: OnRequest | None = None,
        clock: Clock | None = None,
        connect_timeout: float = 10.0,
        trace_configs: Sequence[aiohttp.TraceConfig] = (),
    ) -> None:
        self._connect_timeout = connect_timeout
        self._trace_configs = list(trace_configs)
        self._config = config
        self._base = URL(config.server)
        self._host = f"{self._base.host}:{self._base.port}"
        self._proxy = config.proxy or proxy_from_environment(config.server, os.environ)
        self._on_request = on_request
        self._credentials = credentials_of(config, clock or SystemClock())
        self._headers = _headers_of(config, user_agent)
        self._session: aiohttp.ClientSession | None = None
        self._retired: aiohttp.ClientSession | None = None
        self._pool: Pool | None = None
        self._credential = Credential()

    async def request(self, request: Request) -> Response:
        """See Transport."""
        if request.method in _WRITES and not self._proxy and not self._trace_configs:
            return await self._write(request)
        limits = aiohttp.ClientTimeout(total=request.timeout, sock_connect=self._connect_timeout)
        try:
            async with await self._open(request, limits) as answer:
                body = await answer.read()
                return Response(answer.status, _headers(answer), body)
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise self._failed(request, error) from error

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """See Transport."""
        try:
            async with asyncio.timeout(request.timeout):
                limits = aiohttp.ClientTimeout(sock_connect=self._connect_timeout, sock_read=request.silence)
                answer = await self._open(request, limits)
        except (aiohttp.ClientError, OSError) as error:
            raise self._failed(request, error) from error
        try:
            yield Stream(answer.status, _headers(answer), self._chunks(request, answer))
        finally:
            # not release, since the rest of a watch is endless; and no goodbye by TLS, which would keep the socket
            if answer.connection is not None and answer.connection.transport is not None:
                answer.connection.transport.abort()
            answer.close()

    async def close(self) -> None:
        """See Transport."""
        for session in (self._session, self._retired):
            if session is not None:
                await session.close()
        if self._pool is not None:
            self._pool.close()
        self._session = self._retired = self._pool = None

    async def _chunks(self, request: Request, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise self._failed(request, error) from error

    async def _write(self, request: Request) -> Response:
        """Send a write the short way; see the module ``direct``."""
        try:
            credential = await self._credentials.current()
            answer = await self._write_as(request, credential)
            if answer.status == _UNAUTHORIZED and self._credentials.refused(credential):
                renewed = await self._credentials.current()
                if renewed != credential:
                    answer = await self._write_as(request, renewed)
        except OSError as error:  # TimeoutError is one
            raise self._failed(request, error) from error
        return answer

    async def _write_as(self, request: Request, credential: Credential) -> Response:
        await self._session_for(credential)
        assert self._pool is not None  # noqa: S101 - made with the session
        code = "<error>"
        try:
            answer = await self._pool.request(request, credential.token)
            code = str(answer.status)
        finally:
            if self._on_request is not None:
                self._on_request(request.method, code, self._host)
        return answer

    async def _open(self, request: Request, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        credential = await self._credentials.current()
        answer = await self._send(request, credential, limits)
        if answer.status == _UNAUTHORIZED and self._credentials.refused(credential):
            renewed = await self._credentials.current()
            if renewed != credential:
                answer.release()
                answer = await self._send(request, renewed, limits)
        return answer

    async def _send(
        self, request: Request, credential: Credential, limits: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        headers: dict[str, str] = {}
        if credential.token:
            headers["Authorization"] = f"Bearer {credential.token}"
        if request.body:
            headers["Content-Type"] = request.content_type
        session = await self._session_for(credential)
        code = "<error>"
        try:
            answer = await session.request(
                request.method,
                self._base.joinpath(request.path.lstrip("/")).with_query(request.query),
                data=request.body or None,
                headers=headers,
                timeout=limits,
                allow_redirects=False,
                proxy=self._proxy or None,
                server_hostname=self._config.tls_server_name or None,
            )
            code = str(answer.status)
        finally:
            if self._on_request is not None:
                self._on_request(request.method, code, self._host)
        return answer

    async def _session_for(self, credential: Credential) -> aiohttp.ClientSession:
        if self._session is not None and credential is self._credential:
            return self._session
        previous, self._credential = self._credential, credential
        if self._session is not None and credential.tls == previous.tls:
            return self._session
        try:
            context = _ssl_context(self._config, credential)
        except KubeconfigError as error:
            if self._session is None:
                raise
            # files that are written one after the other do not fit for a moment
            log.warning("%s: the last ones serve on", error)
            return self._session
        session = self._new_session(context)
        if self._pool is not None:
            self._pool.close()
        self._pool = self._new_pool(context)
        # the last but one has had its time: its idle connections are closed by now, and so is what the server ended
        outdated, self._retired, self._session = self._retired, self._session, session
        if outdated is not None:
            await outdated.close()
        return session

    def _new_pool(self, context: ssl.SSLContext | None) -> Pool:
        return Pool(
            self._base.host or "",
            self._base.port or 0,
            headers=self._headers.items(),
            tls=context,
            server_name=self._config.tls_server_name or None,
            prefix=self._base.path,
            connect_timeout=self._connect_timeout,
        )

    def _new_session(self, context: ssl.SSLContext | None) -> aiohttp.ClientSession:
        # the pool has no limit: each watch holds a connection, and ApiClient bounds the other requests
        connector = aiohttp.TCPConnector(limit=0, ssl=context or True, keepalive_timeout=_IDLE_CONNECTION)
        return aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            read_bufsize=_READ_BUFFER,
            trace_configs=self._trace_configs,
        )

    def _failed(self, request: Request, error: Exception) -> ConnectionFailed:
        if isinstance(error, aiohttp.ConnectionTimeoutError | ConnectTimeoutError):
            reason = f"no connection in {min(request.timeout, self._connect_timeout):g} s"
        elif isinstance(error, aiohttp.SocketTimeoutError):
            reason = f"nothing has come for {request.silence:g} s"
        elif isinstance(error, TimeoutError):
            reason = f"no answer in {request.timeout:g} s"
        else:
            reason = reason_of(error, proxy=self._proxy)
        return ConnectionFailed(f"the API server at {self._host} can't be reached: {reason}")


class HttpClient(ApiClient):
    """A client of the server that ``config`` names. Make it anywhere; it connects when first used."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str = user_agent(),
        on_request: OnRequest | None = None,
        clock: Clock | None = None,
        connect_timeout: float = 10.0,
        timeout: float = 30.0,
        silence: float = 90.0,
        max_in_flight: int = 64,
        trace_configs: Sequence[aiohttp.TraceConfig] = (),
    ) -> None:
        transport = HttpTransport(
            config,
            user_agent=user_agent,
            on_request=on_request,
            clock=clock,
            connect_timeout=connect_timeout,
            trace_configs=trace_configs,
        )
        super().__init__(transport, clock=clock, timeout=timeout, silence=silence, max_in_flight=max_in_flight)


def _headers_of(config: ClusterConfig, user_agent: str) -> CIMultiDict[str]:
    headers = CIMultiDict({"User-Agent": user_agent, "Accept": "application/json"})
    if not config.compression:
        headers["Accept-Encoding"] = "identity"
    if config.impersonate_user:
        headers["Impersonate-User"] = config.impersonate_user
    if config.impersonate_uid:
        headers["Impersonate-Uid"] = config.impersonate_uid
    for group in config.impersonate_groups:
        headers.add("Impersonate-Group", group)
    for name, values in config.impersonate_extra.items():
        for value in values:
            headers.add(f"Impersonate-Extra-{quote(name, safe=_HEADER_NAME)}", value)
    return headers


def _headers(answer: aiohttp.ClientResponse) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name, value in answer.headers.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
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
