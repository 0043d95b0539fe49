"""A real HTTP proxy, for as long as a test needs it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class Proxy:
    """What a proxy was asked for, and what it asks for."""

    port: int = 0
    targets: list[str] = field(default_factory=list)
    authorization: str = ""


@asynccontextmanager
async def connect_proxy(way: dict[str, int]) -> AsyncIterator[Proxy]:
    """Run an HTTP proxy that tunnels CONNECT requests for hosts, to ports of this machine."""
    proxy = Proxy()
    serving: set[asyncio.Task[None]] = set()

    async def pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with closing(sink), suppress(OSError):
            while chunk := await source.read(2**16):
                sink.write(chunk)
                await sink.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(answer(reader, writer))
        serving.add(task)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        method, target, _ = first.split()
        headers = dict(line.lower().split(": ", 1) for line in lines if line)
        if proxy.authorization and headers.get("proxy-authorization") != proxy.authorization.lower():
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif method == "CONNECT" and (host := target.partition(":")[0]) in way:
            proxy.targets.append(target)
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", way[host])
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(pipe(reader, server_writer), pipe(server_reader, writer))
        else:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        async with asyncio.timeout(5):
            await asyncio.gather(*serving)
