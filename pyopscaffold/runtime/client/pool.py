"""Kept connections to one server, and requests over them."""

from __future__ import annotations

import asyncio
import weakref
import zlib
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, urlencode

from pyopscaffold.errors import ClientError
from pyopscaffold.runtime.client.connection import Connection, StaleConnectionError
from pyopscaffold.runtime.client.transport import Response, authority

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from pyopscaffold.runtime.client.transport import Request

Header: TypeAlias = tuple[str, str]

_IDLE_CONNECTION = 75.0  # the API server closes its side after 90
_IN_PATH = "/:@!$&'()*+,;=~"
_IDEMPOTENT = frozenset({"GET", "PUT", "DELETE"})
_APPLY = "application/apply-patch"
_GZIP = 16 + zlib.MAX_WBITS


class ConnectTimeoutError(TimeoutError):
    """No connection was made in time."""


class Pool:
    """There is no limit to the number of connections; each carries one request at a time.

    ``headers`` go with every request, ``compression`` asks for compressed answers to reads.
    """

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
        compression: bool = False,
    ) -> None:
        self._address = (host, port)
        self._tls = tls
        self._server_name = server_name or host
        self._prefix = prefix.rstrip("/")
        self._connect_timeout = connect_timeout
        self._compression = compression
        self._head = _lines([("Host", authority(host, port)), *headers])
        self._idle: list[Connection] = []
        self._streams: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._closed = False

    async def request(self, request: Request, token: str) -> Response:
        """Send a request and read its answer.

        Raises:
            ClientError: a header would be two.
            ConnectTimeoutError: no connection in time.
            OSError: no connection, or it broke, or no answer in time (TimeoutError).

        """
        zipped = self._compression and request.method == "GET"
        connection = await self._begin(request, token, whole=True, zipped=zipped)
        answer = connection.answer
        if connection.reusable and not self._closed:
            self._idle.append(connection)
        else:
            connection.close()
        body = b"".join(answer.pieces)
        if zipped and answer.headers.get("content-encoding") == "gzip":
            body = _unzipped(body)
        return Response(answer.status, answer.headers, body)

    async def open(self, request: Request, token: str) -> Connection:
        """Send a request and give the connection, for the caller to close, once the head of the answer is there."""
        async with asyncio.timeout(request.timeout):
            connection = await self._begin(request, token, whole=False)
        self._streams.add(connection)
        return connection

    def close(self, *, streams: bool = False) -> None:
        """Close what is idle; what is under way ends first, ``streams`` are cut."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        for connection in tuple(self._streams) if streams else ():
            connection.close()

    async def _begin(self, request: Request, token: str, *, whole: bool, zipped: bool = False) -> Connection:
        data = self._head_of(request, token, zipped=zipped) + request.body
        while (kept := self._kept()) is not None:
            try:
                return await _sent(kept, data, request.timeout, whole=whole)
            except StaleConnectionError:
                if not _repeatable(request):
                    raise
        connection = await self._connect(min(request.timeout, self._connect_timeout))
        return await _sent(connection, data, request.timeout, whole=whole)

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

    def _head_of(self, request: Request, token: str, *, zipped: bool) -> bytes:
        target = self._prefix + quote(request.path, safe=_IN_PATH)
        if request.query:
            target += "?" + urlencode(request.query)
        headers = [("Content-Length", str(len(request.body)))] if request.body or request.method != "GET" else []
        if token:
            headers.append(("Authorization", f"Bearer {token}"))
        if request.body:
            headers.append(("Content-Type", request.content_type))
        headers += [("Accept", request.accept), ("Accept-Encoding", "gzip" if zipped else "identity")]
        return b"%s %s HTTP/1.1\r\n%s%s\r\n" % (
            request.method.encode("ascii"),
            target.encode("ascii"),
            self._head,
            _lines(headers),
        )


def _repeatable(request: Request) -> bool:
    """Whether it does no harm to send it again though the server may have acted on it: an apply says all it wants."""
    return request.method in _IDEMPOTENT or request.content_type.startswith(_APPLY)


async def _sent(connection: Connection, data: bytes, seconds: float, *, whole: bool) -> Connection:
    try:
        await connection.send(data, timeout=seconds, whole=whole)
    except BaseException:
        connection.close()  # the rest of the answer would be taken for the next one's
        raise
    return connection


def _unzipped(body: bytes) -> bytes:
    try:
        return zlib.decompress(body, _GZIP)
    except zlib.error as error:
        raise ConnectionAbortedError(f"the answer is not HTTP: {error}") from error


def _lines(headers: Iterable[Header]) -> bytes:
    lines = [f"{name}: {value}" for name, value in headers]
    for line in lines:
        if "\r" in line or "\n" in line:
            raise ClientError(f"the header {line.partition(':')[0]} has a line feed in it")
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8")
