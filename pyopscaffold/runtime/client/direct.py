"""HTTP/1.1 pared down to what a write is: one small request on a kept connection, and one small answer.

Nearly all requests of an operator are writes, for it reads from its cache, and aiohttp takes three times the CPU for
one. What streams, is compressed or goes through a proxy is aiohttp's.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, urlencode

from pyopscaffold.errors import ClientError
from pyopscaffold.runtime.client.transport import Response

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from pyopscaffold.runtime.client.transport import Request

Header: TypeAlias = tuple[str, str]

_IDLE_CONNECTION = 90.0
_HEAD_MAX = 2**18
_IN_PATH = "/:@!$&'()*+,;=~"
_NO_BODY = frozenset({204, 304})
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
        self._server_name = server_name if tls else None
        self._prefix = prefix.rstrip("/")
        self._connect_timeout = connect_timeout
        authority = f"[{host}]" if ":" in host else host
        self._head = _lines([("Host", f"{authority}:{port}"), *headers])
        self._idle: list[_Connection] = []
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

    async def _exchange(self, connection: _Connection, head: bytes, request: Request) -> Response:
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

    def _kept(self) -> _Connection | None:
        """Return the connection used last: the others may grow old and go."""
        too_old = asyncio.get_running_loop().time() - _IDLE_CONNECTION
        while self._idle and self._idle[0].used_at < too_old:
            self._idle.pop(0).close()
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable:
                return connection
        return None

    async def _connect(self, timeout: float) -> _Connection:  # noqa: ASYNC109 - named in the error
        try:
            async with asyncio.timeout(timeout) as limit:
                _, connection = await asyncio.get_running_loop().create_connection(
                    _Connection, *self._address, ssl=self._tls, server_hostname=self._server_name
                )
        except TimeoutError:
            if limit.expired():
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


class StaleConnectionError(ConnectionResetError):
    """The server had closed a kept connection: it has not seen the request, or will not say."""


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self.used_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Response] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._used = False
        self._start()

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent."""
        return self._transport is not None and self._keeps and not self._transport.is_closing()

    def send(self, data: bytes, *, timeout: float) -> asyncio.Future[Response]:
        """Send a request; its answer comes by the future."""
        self._start()
        self._answer = answer = self._loop.create_future()
        if self._transport is None or self._transport.is_closing():
            self._fail(self._lost())
            return answer
        self._timer = self._loop.call_later(timeout, self._fail, TimeoutError())
        self._transport.write(data)
        return answer

    def close(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # a protocol for streams gets a transport for them

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._answer is None or self._answer.done():
            return
        if error is None and self._status and self._until_end:
            self._finish(bytes(self._buffer))
        else:
            self._fail(self._lost(error))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            if not self._status and not self._read_head():
                return
            self._read_body()
        except ValueError as error:
            self._fail(ConnectionAbortedError(f"the answer is not HTTP: {error}"))

    def _start(self) -> None:
        self._buffer = bytearray()
        self._status = 0
        self._headers: dict[str, str] = {}
        self._keeps = True
        self._chunks: list[bytes] | None = None
        self._length = 0
        self._until_end = False

    def _lost(self, error: Exception | None = None) -> Exception:
        if self._used and not self._buffer and not self._status:
            return StaleConnectionError("Server disconnected")
        return error if isinstance(error, OSError) else ConnectionResetError("Server disconnected")

    def _read_head(self) -> bool:
        """Take the head off the buffer once it is there; answers that only announce one (1xx) are skipped."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _HEAD_MAX:
                    raise ValueError("its head is too long")
                return False
            first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            del self._buffer[: end + 4]
            version, _, rest = first.partition(" ")
            status = int(rest[:3])
            if not version.startswith("HTTP/1."):
                raise ValueError(f"it begins with {first[:40]!r}")
            if status >= 200:  # noqa: PLR2004 - RFC 9110, section 15
                break
        self._status = status
        for line in lines:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip()
            self._headers[name] = f"{self._headers[name]}, {value}" if name in self._headers else value
        self._frame(version)
        return True

    def _frame(self, version: str) -> None:
        """Find out how the body ends: RFC 9112, section 6.3."""
        headers = self._headers
        self._keeps = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        if self._status in _NO_BODY:
            return
        if "chunked" in headers.get("transfer-encoding", "").lower():
            self._chunks = []
        elif "content-length" in headers:
            self._length = int(headers["content-length"])
        else:
            self._until_end, self._keeps = True, False

    def _read_body(self) -> None:
        if self._until_end:
            return
        if self._chunks is not None:
            self._read_chunks(self._chunks)
        elif len(self._buffer) >= self._length:
            self._finish(bytes(self._buffer[: self._length]))

    def _read_chunks(self, chunks: list[bytes]) -> None:
        """Take the chunks that are whole; each is its length in hexadecimal, a line feed, the data, a line feed."""
        buffer, start = self._buffer, 0
        while (end := buffer.find(b"\r\n", start)) >= 0:
            length = int(bytes(buffer[start:end]).partition(b";")[0], 16)
            data = end + 2
            if length == 0:
                # after the last one may come trailers, and an empty line ends them
                if buffer.find(b"\r\n\r\n", end) >= 0:
                    self._finish(b"".join(chunks))
                    return
                break
            if len(buffer) < data + length + 2:
                break
            chunks.append(bytes(buffer[data : data + length]))
            start = data + length + 2
        del buffer[:start]

    def _finish(self, body: bytes) -> None:
        self._used = True
        self.used_at = self._loop.time()
        response = Response(self._status, self._headers, body)
        if (answer := self._settle()) is not None:
            answer.set_result(response)

    def _fail(self, error: Exception) -> None:
        if (answer := self._settle()) is not None:
            answer.set_exception(error)

    def _settle(self) -> asyncio.Future[Response] | None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        answer, self._answer = self._answer, None
        return None if answer is None or answer.done() else answer


def _lines(headers: Iterable[Header]) -> bytes:
    lines = [f"{name}: {value}" for name, value in headers]
    for line in lines:
        if "\r" in line or "\n" in line:
            raise ClientError(f"the header {line.partition(':')[0]} has a line feed in it")
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8")
