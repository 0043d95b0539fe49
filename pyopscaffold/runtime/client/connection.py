"""A connection that speaks HTTP/1.1 as a client, for answers that are read in one piece.

TLS is spoken here too: asyncio's own takes 256 KiB for each connection, and more time.
"""

from __future__ import annotations

import asyncio
import ssl

from pyopscaffold.runtime.client.transport import Response

_HEAD_MAX = 2**18
_RECORD = 2**14  # of TLS, at most
_NO_BODY = frozenset({204, 304})


class StaleConnectionError(ConnectionResetError):
    """The server had closed a kept connection: it has not seen the request, or will not say."""


class Connection(asyncio.BufferedProtocol):
    """One request at a time.

    ``opened`` is done when the first may be sent; ``used_at`` is when the last one was answered, by the loop's clock.
    """

    def __init__(self, tls: ssl.SSLContext | None, server_name: str) -> None:
        self.used_at = 0.0
        self._loop = asyncio.get_running_loop()
        self.opened = self._loop.create_future()
        self._received = memoryview(bytearray(_RECORD))
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None
        if tls is not None:
            self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
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
        if self._tls is None:
            self._transport.write(data)
        else:
            self._tls.write(data)
            self._flush()
        return answer

    def close(self) -> None:
        """Close at once."""
        self.opened.cancel()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.BufferedProtocol."""
        self._transport = transport  # type: ignore[assignment]  # a protocol for streams gets a transport for them
        if self._tls is None:
            self.opened.set_result(None)
        else:
            self._shake_hands(self._tls)

    def connection_lost(self, error: Exception | None) -> None:
        """See asyncio.BufferedProtocol."""
        self._transport = None
        if not self.opened.done():
            self.opened.set_exception(self._lost(error))
        if self._answer is None or self._answer.done():
            return
        if error is None and self._status and self._until_end:
            self._finish(bytes(self._buffer))
        else:
            self._fail(self._lost(error))

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - a hint
        """See asyncio.BufferedProtocol."""
        return self._received

    def buffer_updated(self, count: int) -> None:
        """See asyncio.BufferedProtocol."""
        if self._tls is None:
            self._take(self._received[:count])
            return
        self._incoming.write(self._received[:count])
        if self.opened.done() or self._shake_hands(self._tls):
            self._decrypt(self._tls)

    def _shake_hands(self, tls: ssl.SSLObject) -> bool:
        """Go on with the handshake; whether it is done."""
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as error:
            if not self.opened.done():
                self.opened.set_exception(error)
            return False
        else:
            if not self.opened.done():
                self.opened.set_result(None)
            return True
        finally:
            self._flush()  # an alert too

    def _decrypt(self, tls: ssl.SSLObject) -> None:
        try:
            while text := tls.read(_RECORD):
                self._take(text)
        except ssl.SSLWantReadError:
            self._flush()  # a renewal of keys is answered
            return
        except ssl.SSLError as error:
            if not isinstance(error, ssl.SSLZeroReturnError):
                self._fail(error)
        if self._transport is not None:  # the other side has said good-bye
            self._transport.close()

    def _flush(self) -> None:
        if self._transport is not None and (data := self._outgoing.read()):
            self._transport.write(data)

    def _take(self, data: bytes | memoryview) -> None:
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
