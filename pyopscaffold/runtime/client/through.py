"""The transport over aiohttp, which knows proxies and can be traced; only imported where one of the two is wanted."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from pyopscaffold.errors import ConnectionFailed
from pyopscaffold.runtime.client.failure import reason_of
from pyopscaffold.runtime.client.identity import Identity, headers_of
from pyopscaffold.runtime.client.transport import OnRequest, Request, Response, Stream, authority

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pyopscaffold.runtime.client.config import ClusterConfig
    from pyopscaffold.runtime.clock import Clock

_READ_BUFFER = 2**18
_IDLE_CONNECTION = 90.0


class AiohttpTransport:
    """A :class:`~pyopscaffold.runtime.client.transport.Transport` over aiohttp's connection pool.

    ``connect_timeout`` (seconds) bounds the making of a connection, with TLS. When certificates are renewed, new
    requests travel on new connections, and what is under way ends on the old ones.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str,
        proxy: str,
        on_request: OnRequest,
        clock: Clock,
        connect_timeout: float,
        trace_configs: Sequence[aiohttp.TraceConfig],
    ) -> None:
        self._connect_timeout = connect_timeout
        self._trace_configs = list(trace_configs)
        self._config = config
        self._base = URL(config.server)
        self._host = authority(self._base.host or "", self._base.port)
        self._proxy = proxy
        self._on_request = on_request
        self._identity = Identity(config, clock, self._trust)
        self._headers = CIMultiDict(headers_of(config, user_agent))
        if not config.compression:
            self._headers["Accept-Encoding"] = "identity"
        self._session: aiohttp.ClientSession | None = None
        self._retired: aiohttp.ClientSession | None = None

    async def request(self, request: Request) -> Response:
        """See Transport."""
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
        self._session = self._retired = None

    async def _chunks(self, request: Request, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as error:
            raise self._failed(request, error) from error

    async def _open(self, request: Request, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        return await self._identity.exchange(
            lambda token: self._send(request, token, limits), drop=aiohttp.ClientResponse.release
        )

    async def _send(self, request: Request, token: str, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        headers = {"Accept": request.accept}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if request.body:
            headers["Content-Type"] = request.content_type
        assert self._session is not None  # noqa: S101 - _trust has made it
        code = "<error>"
        try:
            answer = await self._session.request(
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
            self._on_request(request.method, code, self._host)
        return answer

    async def _trust(self, context: ssl.SSLContext | None) -> None:
        # the last but one has had its time: its idle connections are closed by now, and so is what the server ended
        outdated, self._retired, self._session = self._retired, self._session, self._new_session(context)
        if outdated is not None:
            await outdated.close()

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
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            reason = f"no connection in {min(request.timeout, self._connect_timeout):g} s"
        elif isinstance(error, aiohttp.SocketTimeoutError):
            reason = f"nothing has come for {request.silence:g} s"
        elif isinstance(error, TimeoutError):
            reason = f"no answer in {request.timeout:g} s"
        else:
            reason = reason_of(error, proxy=self._proxy)
        return ConnectionFailed(f"the API server at {self._host} can't be reached: {reason}")


def _headers(answer: aiohttp.ClientResponse) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name, value in answer.headers.items():
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers
