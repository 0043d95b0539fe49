"""HTTP/1.1 pared down to what a write is: one small request on a kept connection, and one small answer.

Nearly all requests of an operator are writes, for it reads from its cache, and aiohttp takes three times the CPU for
one. What streams, is compressed or goes through a proxy is aiohttp's.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, urlencode

from pyopscaffold.errors import ClientError
from pyopscaffold.runtime.client.connection import Connection, StaleConnectionError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from pyopscaffold.runtime.client.transport import Request, Response

Header: TypeAlias = tuple[str, str]

_IDLE_CONNECTION = 90.0
_IN_PATH = "/:@!$&'()*+,;=~"
_IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})


class Pool:
    """Connections to one server, each for one request at a time; there is no limit to their number."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        headers: Iterable[Header],
        tls: ssl.SSLContext | None,
        server_name: str | None = None,
        prefix: str = "",
        connect_timeout: float = 10.0,
    ) -> None:
        self._address = (host, port)
        self._tls = tls
        self._server_name = server_name or host
        self._prefix = prefix.rstrip("/")
        self._connect_timeout = connect_timeout
        authority = f"[{host}]" if ":" in host else host
        self._head = _lines([("Host", f"{authority}:{port}"), *headers])
        self._idle: list[Connection] = []
        self._closed = False

    async def request(self, request: Request, token: str) -> Response:
        """Send a request and read its answer.

        Raises:
            ClientError: a header would be two.
            ConnectTimeoutError: no connection in time.
            OSError: no connection, or it broke, or no answer in time (TimeoutError).

        """
        head = self._head_of(request, token)
        while (kept := self._kept()) is not None:
            try:
                return await self._exchange(kept, head, request)
            except StaleConnectionError:
                if request.method not in _IDEMPOTENT:
                    raise
        connection = await self._connect(min(request.timeout, self._connect_timeout))
        return await self._exchange(connection, head, request)

    def close(self) -> None:
        """Close what is idle; what is under way ends first."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    async def _exchange(self, connection: Connection, head: bytes, request: Request) -> Response:
        answer = connection.send(head + request.body, timeout=request.timeout)
        try:
            response = await answer
        except BaseException:
            connection.close()  # the rest of the answer would be taken for the next one's
            raise
        if connection.reusable and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()
        return response

    def _kept(self) -> Connection | None:
        """Return the connection used last: the others may grow old and go."""
        too_old = asyncio.get_running_loop().time() - _IDLE_CONNECTION
        while self._idle and self._idle[0].used_at < too_old:
            self._idle.pop(0).close()
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
        return None

    async def _connect(self, timeout: float) -> Connection:  # noqa: ASYNC109 - named in the error
        protocol = partial(Connection, self._tls, self._server_name)
        connection: Connection | None = None
        try:
            async with asyncio.timeout(timeout) as limit:
                _, connection = await asyncio.get_running_loop().create_connection(protocol, *self._address)
                await connection.opened
        except BaseException as error:
            if connection is not None:
                connection.close()
            if isinstance(error, TimeoutError) and limit.expired():
                raise ConnectTimeoutError(f"no connection in {timeout:g} s") from None
            raise
        return connection

    def _head_of(self, request: Request, token: str) -> bytes:
        target = self._prefix + quote(request.path, safe=_IN_PATH)
        if request.query:
            target += "?" + urlencode(request.query)
        headers = [("Content-Length", str(len(request.body)))]
        if token:
            headers.append(("Authorization", f"Bearer {token}"))
        if request.body:
            headers.append(("Content-Type", request.content_type))
        return b"%s %s HTTP/1.1\r\n%s%s\r\n" % (
            request.method.encode("ascii"),
            target.encode("ascii"),
            self._head,
            _lines(headers),
        )


class ConnectTimeoutError(TimeoutError):
    """No connection was made in time."""


def _lines(headers: Iterable[Header]) -> bytes:
    lines = [f"{name}: {value}" for name, value in headers]
    for line in lines:
        if "\r" in line or "\n" in line:
            raise ClientError(f"the header {line.partition(':')[0]} has a line feed in it")
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8")
