"""A server for probes and scrapes: GET and HEAD of a few paths. A web framework would cost more than the operator."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import AsyncIterator

PLAIN = "text/plain; charset=utf-8"
_HEAD_MAX = 2**14
_PATIENCE = 75.0
_SHUTDOWN = 1.0
_log = logging.getLogger("pyopscaffold.serving")


@dataclass(frozen=True)
class Request:
    """What is asked for; ``path`` is unescaped, names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]


Answer: TypeAlias = tuple[int, str, bytes]
"""HTTP status, content type and body."""
Handler: TypeAlias = Callable[[Request], Awaitable[Answer]]


@asynccontextmanager
async def listening(
    listener: socket.socket, handler: Handler, *, tls: ssl.SSLContext | None = None, patience: float = _PATIENCE
) -> AsyncIterator[None]:
    """Answer on the running loop while the block lasts; what is being answered then has a second to end.

    Who takes longer than ``patience`` seconds to ask, or to take the answer in, is hung up on.
    """
    busy: set[asyncio.Task[None]] = set()
    open_: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - streams run this as one
        open_.add(task)
        writer.transport.set_write_buffer_limits(0)  # to close a connection waits, without end, for what is in there
        try:
            while (request := await _read(reader, patience)) is not None:
                busy.add(task)
                keeps = await _answer(request, handler, writer, patience)
                busy.discard(task)
                if not keeps or not server.is_serving():
                    return
        except TimeoutError:
            writer.transport.abort()
        except (OSError, asyncio.IncompleteReadError):
            _log.debug("a client has left")
        except asyncio.CancelledError:
            writer.transport.abort()
            if server.is_serving():  # else it was us, and streams of Python 3.11 would log it
                raise
        finally:
            busy.discard(task)
            open_.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, sock=listener, ssl=tls, limit=_HEAD_MAX)
    try:
        yield
    finally:
        server.close()
        for task in open_ - busy:
            task.cancel()
        if busy:
            await asyncio.wait(set(busy), timeout=_SHUTDOWN)
        rest = set(open_)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)


async def _read(reader: asyncio.StreamReader, patience: float) -> Request | None:
    """Read the next request; None where there is none that we understand."""
    try:
        async with asyncio.timeout(patience):
            head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, version = first.split(" ")
        parts = urlsplit(target)
    except (asyncio.LimitOverrunError, ValueError):
        return None
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if version != "HTTP/1.1":
        headers["connection"] = "close"  # an older client may wait for the end of the connection
    return Request(method, unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True)), headers)


async def _answer(request: Request, handler: Handler, writer: asyncio.StreamWriter, patience: float) -> bool:
    """Write the answer; whether another request may follow on the connection."""
    # a body is not read: what follows can't be told from it
    options = {option.strip() for option in request.headers.get("connection", "").lower().split(",")}
    keeps = "close" not in options and not ({"content-length", "transfer-encoding"} & request.headers.keys())
    allow = ""
    if request.method in {"GET", "HEAD"}:
        status, content_type, body = await _handled(request, handler)
    else:
        status, content_type, body, allow = 405, PLAIN, b"405: Method Not Allowed", "Allow: GET, HEAD\r\n"
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nDate: {time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime())}\r\n"
        f"{allow}Connection: {'keep-alive' if keeps else 'close'}\r\n\r\n"
    )
    writer.write(head.encode("latin-1") + (b"" if request.method == "HEAD" else body))
    async with asyncio.timeout(patience):
        await writer.drain()
    return keeps


async def _handled(request: Request, handler: Handler) -> Answer:
    try:
        return await handler(request)
    except Exception:  # noqa: BLE001 - no request may cost the others theirs
        _log.exception("%s %s failed", request.method, request.path)
        return 500, PLAIN, b"internal error\n"
