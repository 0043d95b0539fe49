"""A connection that speaks HTTP/1.1 as a client, one exchange at a time.

TLS is spoken here too: asyncio's own takes 256 KiB for each connection, and more time.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

from pyopscaffold.runtime.client.answer import Answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_RECORD = 2**14  # of TLS, at most
_AHEAD_MAX = 2**20  # bytes of a stream that wait to be read


class StaleConnectionError(ConnectionResetError):
    """The server had closed a kept connection: it has not seen the request, or will not say."""


class SilenceError(TimeoutError):
    """Nothing has come in a stream for as long as it may be silent."""


class Connection(asyncio.BufferedProtocol):
    """``opened`` is done when the first request may be sent; ``used_at`` is when the last one ended (loop time)."""

    def __init__(self, tls: ssl.SSLContext | None, server_name: str) -> None:
        self.used_at = 0.0
        self.answer = Answer()
        self.answer.done = True  # nothing has been asked for
        self._loop = asyncio.get_running_loop()
        self.opened = self._loop.create_future()
        self._received = memoryview(bytearray(_RECORD))
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None
        if tls is not None:
            self._tls = tls.wrap_bio(self._incoming, self._outgoing, server_hostname=server_name)
        self._transport: asyncio.Transport | None = None
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._whole = True
        self._said_goodbye = tls is None  # without TLS there is no telling
        self._used = False
        self._paused = False

    @property
    def status(self) -> int:
        """HTTP status of the present answer; 0 before there is any."""
        return self.answer.status

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent."""
        answer, transport = self.answer, self._transport
        return transport is not None and answer.done and answer.keeps and not transport.is_closing()

    async def send(self, data: bytes, *, timeout: float, whole: bool) -> None:  # noqa: ASYNC109 - passed on to a timer
        """Send a request and wait for the head of its answer, or for the ``whole`` of it.

        Raises:
            OSError: the connection broke, or the time is over (TimeoutError).

        """
        self._restart(whole=whole)
        if self._transport is None or self._transport.is_closing():
            raise self._lost()
        if self._tls is None:
            self._transport.write(data)
        else:
            self._tls.write(data)
            self._flush()
        await self._wait(timeout, TimeoutError())
        if self._failure is not None and not self.answer.done and (whole or not self.answer.status):
            raise self._failure

    async def pieces(self, silence: float | None) -> AsyncIterator[bytes]:
        """Give what follows the head, as it comes; raises OSError, SilenceError after so many seconds of nothing."""
        answer = self.answer
        while True:
            taken, answer.pieces = answer.pieces, []
            for piece in taken:
                yield piece
            if answer.pieces:
                continue
            if answer.done:
                return
            if self._failure is not None:
                raise self._failure
            self._resume()
            await self._wait(silence, SilenceError())

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
        self._not_opened(self._lost(error))
        if error is None and self._said_goodbye and self.answer.end():
            self._wake()
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
            self._not_opened(error)
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
        except ssl.SSLZeroReturnError:
            self._said_goodbye = True
        except ssl.SSLError as error:
            self._fail(error)
        else:
            self._said_goodbye = True
        if self._transport is not None:
            self._transport.close()

    def _flush(self) -> None:
        if self._transport is not None and (data := self._outgoing.read()):
            self._transport.write(data)

    def _take(self, data: bytes | memoryview) -> None:
        answer = self.answer
        if answer.done:
            self.close()  # nobody asked for it, and the rest of it would be taken for the next answer
            return
        try:
            done = answer.feed(data)
        except ValueError as error:
            self._fail(ConnectionAbortedError(f"the answer is not HTTP: {error}"))
            return
        if done:
            self._used, self.used_at = True, self._loop.time()
            self._wake()
        elif not self._whole and answer.status:
            self._wake()
            if self._transport is not None and not self._paused and sum(map(len, answer.pieces)) > _AHEAD_MAX:
                self._paused = True
                self._transport.pause_reading()

    def _restart(self, *, whole: bool) -> None:
        self.answer, self._failure, self._whole = Answer(), None, whole

    def _resume(self) -> None:
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
        self._paused = False

    async def _wait(self, seconds: float | None, late: Exception) -> None:
        """Wait for news; after so many seconds the exchange has failed."""
        self._waiter = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, self._fail, late)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error
        self._wake()

    def _not_opened(self, error: Exception) -> None:
        if not self.opened.done():
            self.opened.set_exception(error)
            self.opened.exception()  # who waited for it may have been cancelled: it is nobody's loss then

    def _lost(self, error: Exception | None = None) -> Exception:
        if self._used and not self.answer.begun:
            return StaleConnectionError("Server disconnected")
        return error if isinstance(error, OSError) else ConnectionResetError("Server disconnected")
