"""A proxy between an operator and the API server, which breaks what passes through it when it is told to.

TLS on both sides, HTTP/1.1, a thread of its own; its commands may be given from any other thread, and have come into
force when they return. ``with FaultProxy(server) as proxy:``, then an operator by ``proxy.kubeconfig(path)``, and:

======================================  ===================================================================
``proxy.end(Ending.CLEAN, which)``      ends open watches: CLEAN, GOODBYE, RESET, TORN, EXPIRED (see Ending)
``proxy.freeze(which)``                 open watches say nothing any more, and stay open
``with proxy.answering(500, which):``   answers instead of the server; ``times=``, ``retry_after=``
``with proxy.holding(which):``          requests wait until the block ends
``with proxy.slow(0.5, which):``        requests and what a watch brings come so many seconds late
``with proxy.cut():``                   nothing passes, and who connects waits, until the block ends
``with proxy.refusing():``              nobody listens, and what was open is reset, until the block ends
``proxy.opened()``, ``proxy.clients``    the watches that are open; how many connections are
======================================  ===================================================================

``which`` chooses by what is ``Seen`` of a request: ``watches("configmaps")``, ``writes("widgets")``, ``anything``, or
a function of one's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import socket
import ssl
import struct
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from pyopscaffold.testing import pki
from tests.faults import http1

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from pyopscaffold.testing import ApiServer, RestClient
    from pyopscaffold.testing.server import Identity
    from tests.faults.http1 import Head, Seen, Source

    Which = Callable[[Seen], bool]
    T = TypeVar("T")

_FAILURES = (OSError, EOFError)  # ssl.SSLError is an OSError
_STOP_SECONDS = 10.0


class Ending(enum.Enum):
    """How a watch ends."""

    CLEAN = "the body ends as it should, and the connection may be used again"
    GOODBYE = "the connection is closed in peace, with the body unfinished"
    RESET = "the connection is reset"
    TORN = "the connection is reset in the middle of the next event"
    EXPIRED = "an ERROR event of code 410, then as CLEAN"


def anything(_: Seen) -> bool:
    """Every request."""
    return True


def watches(*resources: str) -> Which:
    """Choose watches of these resources, by default of all."""
    return lambda seen: seen.is_watch and (not resources or seen.resource in resources)


def writes(*resources: str) -> Which:
    """Choose writes of these resources, by default of all."""
    return lambda seen: seen.is_write and (not resources or seen.resource in resources)


@dataclass(eq=False)
class Rule:
    """Something that is done to requests as they come; ``hits`` counts them."""

    which: Which
    answer: bytes = b""
    delay: float = 0.0
    released: asyncio.Event | None = None
    times: int | None = None
    hits: int = 0


class _Stream:
    """A watch under way."""

    def __init__(self, seen: Seen, task: asyncio.Task[Any]) -> None:
        self.seen = seen
        self.task = task
        self.ending: Ending | None = None
        self.frozen = False


class FaultProxy:
    """See the module docstring. ``url`` is where it listens, ``requests`` counts all that came by."""

    def __init__(self, upstream: ApiServer) -> None:
        self.url = ""
        self.clients = 0
        self.requests = 0
        self.rules: list[Rule] = []
        self.streams: list[_Stream] = []
        self.passing = asyncio.Event()
        self.trust = ssl.create_default_context(cadata=upstream.ca)
        self.trust.set_alpn_protocols(["http/1.1"])
        address = urlsplit(upstream.url)
        self.address = (address.hostname or "", address.port or 443)
        self._upstream = upstream
        self._keys = pki.server_keys()
        self._tls = _server_context(self._keys)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault proxy", daemon=True)

    @property
    def server(self) -> ApiServer:
        """The API server as it looks from behind the proxy."""
        return replace(self._upstream, url=self.url, ca=self._keys.authority)

    @property
    def port(self) -> int:
        """Where it listens."""
        return urlsplit(self.url).port or 0

    def kubeconfig(self, path: Path, identity: Identity | None = None) -> Path:
        """Write a kubeconfig that leads through the proxy, and give its path."""
        return self.server.kubeconfig(identity, path=path)

    def client(self, **options: Any) -> RestClient:
        """Give a client that goes through the proxy."""
        return self.server.client(**options)

    def opened(self, which: Which = anything) -> list[Seen]:
        """Return the watches that are open, through to the server."""
        return self._call(self._open, which)

    def __enter__(self) -> Self:
        self._thread.start()
        self._wait(self._begin(0))
        return self

    def __exit__(self, *_: object) -> None:
        self._wait(self._end_everything())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)
        self._loop.close()

    def end(self, how: Ending, which: Which = anything) -> int:
        """End open watches; how many it was. TORN waits for the next event of each."""
        return self._call(self._end_streams, how, which)

    def freeze(self, which: Which = anything) -> int:
        """Have open watches fall silent for good; how many it was."""
        return self._call(self._freeze_streams, which)

    def answering(
        self, code: int, which: Which = anything, *, times: int | None = None, retry_after: int | None = None
    ) -> contextlib.AbstractContextManager[Rule]:
        """Refuse requests with this status: all while the block lasts, or the next ``times``."""
        return self._ruled(Rule(which, answer=http1.refusal(code, retry_after=retry_after), times=times))

    def slow(self, seconds: float, which: Which = anything) -> contextlib.AbstractContextManager[Rule]:
        """Have requests wait, and each piece that a watch brings."""
        return self._ruled(Rule(which, delay=seconds))

    def holding(self, which: Which = anything) -> contextlib.AbstractContextManager[Rule]:
        """Have requests wait until the block ends."""
        return self._ruled(Rule(which, released=asyncio.Event()))

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Cut the network: what is open stays so, and nothing passes."""
        self._call(self.passing.clear)
        try:
            yield
        finally:
            self._call(self.passing.set)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Have nobody listen: connections are refused."""
        port = self.port
        self._wait(self._hang_up())
        try:
            yield
        finally:
            self._wait(self._begin(port))

    @contextmanager
    def _ruled(self, rule: Rule) -> Iterator[Rule]:
        self._call(self.rules.append, rule)
        try:
            yield rule
        finally:
            self._call(self.rules.remove, rule)
            if rule.released is not None:
                self._call(rule.released.set)

    def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function in the proxy's loop, and wait for it."""

        async def run() -> T:
            return function(*arguments)

        return self._wait(run())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_STOP_SECONDS)

    # From here on, everything runs in the proxy's own loop.

    async def _begin(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self._listener.setblocking(False)
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self.passing.set()
        self._accepting = asyncio.create_task(self._accept())

    async def _accept(self) -> None:
        while True:
            connection, _ = await self._loop.sock_accept(self._listener)
            # asyncio would, but for its not knowing that the listener's connections are TCP's
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            task = asyncio.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _hang_up(self) -> None:
        self._accepting.cancel()
        with suppress(asyncio.CancelledError):
            await self._accepting
        self._listener.close()
        for writer in tuple(self._writers):
            _reset(writer)

    async def _end_everything(self) -> None:
        self.passing.set()
        await self._hang_up()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _open(self, which: Which) -> list[Seen]:
        return [stream.seen for stream in self.streams if not stream.frozen and which(stream.seen)]

    def _end_streams(self, how: Ending, which: Which) -> int:
        found = [stream for stream in self.streams if which(stream.seen)]
        for stream in found:
            stream.ending = how
            if how is not Ending.TORN:
                stream.task.cancel()
        return len(found)

    def _freeze_streams(self, which: Which) -> int:
        found = [stream for stream in self.streams if which(stream.seen)]
        for stream in found:
            stream.frozen = True
        return len(found)

    async def _serve(self, connection: socket.socket) -> None:
        """Serve one connection of a client, with one of its own to the server."""
        self.clients += 1
        try:
            await self.passing.wait()  # a client that is cut off does not even get through the handshake
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self._tls)
        except BaseException as error:
            connection.close()
            self.clients -= 1
            if isinstance(error, _FAILURES):
                return
            raise
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        self._writers.add(writer)
        served = _Served(self, http1.Source(reader), writer)
        try:
            await served.run()
        except _FAILURES:
            pass  # either side has gone
        finally:
            served.close()
            self._writers.discard(writer)
            self.clients -= 1


class _Served:
    """One connection of a client."""

    def __init__(self, proxy: FaultProxy, client: Source, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._writer = writer
        self._server: Source | None = None
        self._to_server: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Serve request by request; whoever goes in between is let go."""
        while True:
            head = await http1.read_head(self._client)
            body = b"".join([piece async for piece in head.body(self._client)])
            self._proxy.requests += 1
            exchange = asyncio.create_task(self._exchange(head, http1.chunk(body) if head.chunked else body))
            gone = asyncio.create_task(self._client.ended())
            try:
                await asyncio.wait({exchange, gone}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (exchange, gone):
                    task.cancel()
                await asyncio.gather(exchange, gone, return_exceptions=True)
            if exchange.cancelled():
                return
            exchange.result()

    def close(self) -> None:
        """Close both sides."""
        self._client.close()
        self._writer.transport.abort()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._server is not None and self._to_server is not None:
            self._server.close()
            self._to_server.transport.abort()
        self._server = self._to_server = None

    async def _exchange(self, head: Head, body: bytes) -> None:
        seen = http1.seen(head)
        for rule in [rule for rule in self._proxy.rules if rule.which(seen)]:
            if rule.times is not None and rule.hits >= rule.times:
                continue
            rule.hits += 1
            if rule.released is not None:
                await rule.released.wait()
            await asyncio.sleep(rule.delay)
            if rule.answer:
                await self._tell(rule.answer)
                return
        if self._server is None or self._to_server is None:
            reader, self._to_server = await asyncio.open_connection(*self._proxy.address, ssl=self._proxy.trust)
            self._server = http1.Source(reader)
        self._to_server.write(head.raw + body + (http1.LAST_CHUNK if head.chunked else b""))
        await self._to_server.drain()
        answer = await http1.read_head(self._server)
        await self._tell(answer.raw)
        if seen.is_watch and answer.chunked:
            await self._watch(seen, answer, self._server)
            return
        async for piece in answer.body(self._server):
            await self._tell(http1.chunk(piece) if answer.chunked else piece)
        if answer.chunked:
            await self._tell(http1.LAST_CHUNK)

    async def _watch(self, seen: Seen, answer: Head, server: Source) -> None:
        task = asyncio.current_task()
        assert task is not None
        stream = _Stream(seen, task)
        self._proxy.streams.append(stream)
        try:
            await self._stream(stream, answer, server)
        except asyncio.CancelledError:
            if stream.ending is None:
                raise
            self._hang_up()
            await self._finish(stream.ending)
        finally:
            self._proxy.streams.remove(stream)

    async def _stream(self, stream: _Stream, answer: Head, server: Source) -> None:
        async for piece in answer.body(server):
            if stream.frozen:
                await asyncio.Future()
            await asyncio.sleep(sum(rule.delay for rule in self._proxy.rules if rule.which(stream.seen)))
            if stream.ending is Ending.TORN:
                await self._tell(http1.chunk(piece[: len(piece) // 2]))
                self._hang_up()
                _reset(self._writer)
                return
            await self._tell(http1.chunk(piece))
        await self._tell(http1.LAST_CHUNK)

    async def _finish(self, ending: Ending) -> None:
        if ending is Ending.EXPIRED:
            error = http1.status_body(410, message="too old resource version: 1 (2)")
            await self._tell(http1.chunk(b'{"type":"ERROR","object":%s}\n' % error))
        if ending in {Ending.CLEAN, Ending.EXPIRED}:
            await self._tell(http1.LAST_CHUNK)
        elif ending is Ending.GOODBYE:
            self._writer.close()
            await self._writer.wait_closed()
        else:
            _reset(self._writer)

    async def _tell(self, data: bytes) -> None:
        await self._proxy.passing.wait()
        self._writer.write(data)
        await self._writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is not None:  # else the client was faster
        with suppress(OSError):
            # to linger for no time at all is to reset: socket(7)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _server_context(keys: pki.ServerKeys) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["http/1.1"])
    with TemporaryDirectory() as folder:  # OpenSSL's binding takes files only
        for name, text in (("tls.crt", keys.certificate), ("tls.key", keys.key)):
            Path(folder, name).write_text(text)
        context.load_cert_chain(Path(folder, "tls.crt"), Path(folder, "tls.key"))
    return context
