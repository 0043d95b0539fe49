"""The server of probes and scrapes, spoken to over plain sockets."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.runtime.health import bind
from pyopscaffold.runtime.serving import Answer, Handler, Request, listening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def echo(request: Request) -> Answer:
    """Answer with what was asked for."""
    if request.path == "/broken":
        raise OSError("no route")
    said = f"{request.path} {dict(request.query)} {request.headers.get('x-name', '')}"
    return 200, "text/plain", said.encode()


@asynccontextmanager
async def connection(
    handler: Handler = echo, *, patience: float = 5.0
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Serve, and connect to it."""
    listener = bind("127.0.0.1:0", flag="--flag")
    assert listener is not None
    async with listening(listener, handler, patience=patience):
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        try:
            yield reader, writer
        finally:
            writer.close()


async def answer(reader: asyncio.StreamReader, *, body: bool = True) -> tuple[bytes, bytes]:
    """Read an answer: its head and its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
    return head, await reader.readexactly(length if body else 0)


async def test_requests_on_one_connection() -> None:
    """Connections are kept; path, query and headers are told; HEAD has no body."""
    async with connection() as (reader, writer):
        writer.write(b"GET /a%20b?x=1&verbose HTTP/1.1\r\nX-Name: ada\r\n\r\nHEAD /x HTTP/1.1\r\n\r\n")
        head, body = await answer(reader)
        assert head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n")
        assert body == b"/a b {'x': '1', 'verbose': ''} ada"
        head, _ = await answer(reader, body=False)
        assert b"Content-Length: 6\r\n" in head
        writer.write(b"GET /x HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert (await answer(reader))[1] == b"/x {} "
        assert await reader.read() == b""


async def test_a_handler_that_fails() -> None:
    """A fault costs one answer, and tells nothing of itself."""
    async with connection() as (reader, writer):
        writer.write(b"GET /broken HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        assert (await answer(reader))[1] == b"internal error\n"
        assert (await answer(reader))[1] == b"/ {} "


async def test_writes_are_refused() -> None:
    """Only GET and HEAD are served, and what follows a body is not taken for a request."""
    async with connection() as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n")
        head, _ = await answer(reader)
        assert head.startswith(b"HTTP/1.1 405 ")
        assert b"Allow: GET, HEAD\r\n" in head
        assert await reader.read() == b""


@pytest.mark.parametrize("text", [b"hello\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000])
async def test_nonsense_is_hung_up_on(text: bytes) -> None:
    """What is no request, or one without end, gets no answer."""
    async with connection() as (reader, writer):
        writer.write(text)
        assert await reader.read() == b""


@pytest.mark.parametrize("ask", ["HTTP/1.0\r\n", "HTTP/1.1\r\nConnection: keep-alive, Close\r\n"])
async def test_connections_that_are_not_kept(ask: str) -> None:
    """A client of HTTP/1.0, or one that asks for it among other things, is hung up on after the answer."""
    async with connection() as (reader, writer):
        writer.write(f"GET /x {ask}\r\n".encode())
        head, body = await answer(reader)
        assert (b"Connection: close\r\n" in head, body) == (True, b"/x {} ")
        assert await asyncio.wait_for(reader.read(), 5.0) == b""


async def test_a_client_that_does_not_read() -> None:
    """Who does not take the answer in is hung up on, so that nobody holds connections for nothing."""
    size = 2**25  # more than the system keeps for the reader

    async def much(_: Request) -> Answer:
        return 200, "text/plain", b"x" * size

    async with connection(much, patience=0.05) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        assert serving
        await asyncio.wait_for(asyncio.wait(serving), 5.0)
        assert len(await asyncio.wait_for(reader.read(), 5.0)) < size
