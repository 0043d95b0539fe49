"""One request and its answer: limited in number, patient when the server asks for it, with its warnings logged."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pyopscaffold.errors import ApiError, ServerError, TooManyRequests
from pyopscaffold.runtime.client.status import error_of, is_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pyopscaffold.runtime.client.transport import Request, Response, Stream, Transport
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger("pyopscaffold.runtime.client")

_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_ATTEMPTS = 5
_LONGEST_WAIT = 10.0
_WARNINGS_KEPT = 1000


class Exchange:
    """Sends requests over a transport, at most ``max_in_flight`` at once; raises what the answers say."""

    def __init__(self, transport: Transport, clock: Clock, *, max_in_flight: int) -> None:
        self._transport = transport
        self._clock = clock
        self._slots = asyncio.Semaphore(max_in_flight)
        self._warned: set[str] = set()

    async def send(self, request: Request) -> Response:
        """Return the answer to a request, if need be after some waiting; raises ApiError."""
        attempt = 1
        while True:
            async with self._slots:
                response = await self._transport.request(request)
            self._log_warnings(response.headers)
            if not is_error(response.status):
                return response
            where = f"{request.method} {request.path}"
            error = error_of(response.status, response.headers, response.body, where=where)
            if attempt == _ATTEMPTS or not _waits_out(request.method, error):
                raise error
            attempt += 1
            # spread out, or all that were told the same second come back at once
            await self._clock.sleep((error.retry_after or 0.0) * random.uniform(1.0, 1.25))  # noqa: S311

    @asynccontextmanager
    async def stream(self, request: Request, where: str) -> AsyncIterator[Stream]:
        """Open a stream, which takes no slot: watches last; raises ApiError."""
        async with self._transport.stream(request) as stream:
            self._log_warnings(stream.headers)
            if is_error(stream.status):
                body = b"".join([chunk async for chunk in stream.chunks])
                raise error_of(stream.status, stream.headers, body, where=where)
            yield stream

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()

    def _log_warnings(self, headers: Mapping[str, str]) -> None:
        if not (value := headers.get("warning")):
            return
        for text in _WARNING.findall(value):
            if text not in self._warned and len(self._warned) < _WARNINGS_KEPT:
                self._warned.add(text)
                log.warning("the API server warns: %s", _ESCAPED.sub(r"\1", text))


def _waits_out(method: str, error: ApiError) -> bool:
    """Whether the server asked for patience, and the request surely had no effect yet."""
    untouched = isinstance(error, TooManyRequests) or (isinstance(error, ServerError) and method == "GET")
    return untouched and error.retry_after is not None and error.retry_after <= _LONGEST_WAIT
