"""Connections of our own: answers in any pieces, compressed, endless; connections kept, gone stale, or given up."""

from __future__ import annotations

import asyncio
import gc
import gzip
import ssl
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import ClientError, ConnectionFailed
from pyopscaffold.kube.builtin import NAMESPACE
from pyopscaffold.runtime.client.connection import Connection, StaleConnectionError
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.client.pool import Pool
from pyopscaffold.runtime.client.transport import Request, Response
from tests.unit.runtime.client.guarded import Authority, Guard, guarded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from pyopscaffold.runtime.client.config import ClusterConfig

PATCH = Request("PATCH", "/api/v1/things/a b", {"force": "true"}, b"{}", timeout=5.0)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    b"HTTP/1.1 201 Created\r\nWarning: one\r\nTransfer-Encoding: chunked\r\nWarning: two\r\n\r\n"
    b"5;extension=1\r\n{'a':\r\nC\r\n'bcdefghij'}\r\n0\r\nTrailer: x\r\n\r\n"
)
CLOSE = b"close"


class Script:
    """A server that answers the n-th request with the n-th piece of text; b"close" hangs up instead."""

    def __init__(self, *answers: bytes | Sequence[bytes]) -> None:
        self._answers = list(answers)
        self.heads: list[bytes] = []
        self.connections = 0
        self.hung_up = asyncio.Event()
        self.left = asyncio.Event()
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(2 if b"\r\nContent-Length: 2\r\n" in head else 0)
                self.heads.append(head)
                self.asked.set()
                answer = self._answers.pop(0)
                for piece in [answer] if isinstance(answer, bytes) else answer:
                    if piece == CLOSE:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
        except asyncio.IncompleteReadError:
            self.left.set()
        finally:
            writer.close()
            self.hung_up.set()


@asynccontextmanager
async def pool_of(script: Script, *, compression: bool = False) -> AsyncIterator[Pool]:
    """Serve a script and give a pool of connections to it."""
    server = await asyncio.start_server(script.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pool = Pool("127.0.0.1", port, headers=[("User-Agent", "test")], tls=None, compression=compression)
    try:
        yield pool
    finally:
        pool.close()
        server.close()


def bytewise(text: bytes) -> list[bytes]:
    """Cut a text into single bytes."""
    return [text[index : index + 1] for index in range(len(text))]


@pytest.mark.parametrize("pieces", [[CHUNKED], bytewise(CHUNKED)], ids=["whole", "bytewise"])
async def test_answers_in_pieces(pieces: list[bytes]) -> None:
    """Heads and chunks may be cut anywhere; repeated headers are joined, and what only announces is skipped."""
    script = Script(pieces, OK)
    async with pool_of(script) as pool:
        answer = await pool.request(PATCH, "")
        assert answer == Response(201, {"warning": "one, two", "transfer-encoding": "chunked"}, b"{'a':'bcdefghij'}")
        assert (await pool.request(PATCH, "")).body == b"{}"
    assert script.connections == 1


async def test_what_is_sent() -> None:
    """Path and query are escaped, and the token and the content's type go along."""
    script = Script(OK)
    async with pool_of(script) as pool:
        await pool.request(PATCH, "secret")
    head = script.heads[0].decode()
    assert head.startswith("PATCH /api/v1/things/a%20b?force=true HTTP/1.1\r\nHost: 127.0.0.1:")
    assert {"User-Agent: test", "Authorization: Bearer secret", "Content-Type: application/json"} < set(
        head.split("\r\n")
    )


async def test_no_header_slips_in() -> None:
    """A token with a line feed is refused before anything is sent."""
    script = Script()
    async with pool_of(script) as pool:
        with pytest.raises(ClientError, match="line feed"):
            await pool.request(PATCH, "secret\r\nX-Remote-User: admin")
    assert script.connections == 0


async def test_body_that_ends_with_the_connection() -> None:
    """An answer without a length lasts until the server hangs up."""
    script = Script([b"HTTP/1.1 200 OK\r\n\r\nall", b" of it", CLOSE], OK)
    async with pool_of(script) as pool:
        assert (await pool.request(PATCH, "")).body == b"all of it"
        assert (await pool.request(PATCH, "")).body == b"{}"
    assert script.connections == 2


async def test_connection_that_the_server_closes_while_idle() -> None:
    """A kept connection that the server has closed meanwhile is not used again."""
    script = Script([OK, CLOSE], OK)
    async with pool_of(script) as pool:
        await pool.request(PATCH, "")
        await script.hung_up.wait()
        await asyncio.sleep(0.01)
        assert (await pool.request(PATCH, "")).status == 200


async def test_a_stale_connection_costs_only_what_may_have_happened() -> None:
    """A server that hangs up on a kept connection: what may be repeated is, another PATCH is left to its caller."""
    script = Script(OK, CLOSE, OK, CLOSE, OK, CLOSE)
    async with pool_of(script) as pool:
        await pool.request(PATCH, "")
        put = Request("PUT", "/x", timeout=5.0)
        assert (await pool.request(put, "")).body == b"{}"
        assert script.connections == 2
        apply = replace(PATCH, content_type="application/apply-patch+yaml")
        assert (await pool.request(apply, "")).body == b"{}"
        assert script.connections == 3
        with pytest.raises(StaleConnectionError):
            await pool.request(PATCH, "")
    assert len(script.heads) == 6


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 2xx OK\r\n\r\n",
        b"HTTP/1.1 -20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        OK.replace(b"2\r\n\r\n", b"two\r\n\r\n"),
        OK.replace(b"2\r\n\r\n", b"-2\r\n\r\n"),
        OK.replace(b"2\r\n\r\n", b"0_2\r\n\r\n"),
        CHUNKED.replace(b"\r\nC\r\n", b"\r\nB\r\n"),
        CHUNKED.replace(b"\r\nC\r\n", b"\r\n0xC\r\n"),
        CHUNKED.replace(b"\r\nC\r\n", b"\r\n-C\r\n"),
    ],
)
async def test_nonsense(answer: bytes) -> None:
    """What is not HTTP fails, and its connection is not used again."""
    script = Script(answer, OK)
    async with pool_of(script) as pool:
        with pytest.raises(ConnectionAbortedError, match="not HTTP"):
            await pool.request(PATCH, "")
        assert (await pool.request(PATCH, "")).status == 200
    assert script.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        OK.replace(b"Content", b"Connection: keep-alive, Close\r\nContent"),
        OK + b"HTTP/1.1 200 OK\r\n",
        CHUNKED + b"HT",
        CHUNKED.replace(b"Link: x", b"Content-Length: 2").replace(b"Warning: one", b"Content-Length: 23"),
    ],
    ids=["close among others", "more than its length", "more than its chunks", "two lengths"],
)
async def test_answers_after_which_the_connection_is_of_no_use(answer: bytes) -> None:
    """The answer counts; the next request goes over another connection."""
    script = Script(answer, OK)
    async with pool_of(script) as pool:
        assert (await pool.request(PATCH, "")).body in {b"{}", b"{'a':'bcdefghij'}"}
        assert (await pool.request(PATCH, "")).body == b"{}"
    assert script.connections == 2


async def test_what_nobody_asked_for_is_no_answer() -> None:
    """A server that speaks before it is asked, on a kept connection or a new one, is hung up on."""
    speaks: asyncio.Queue[bytes] = asyncio.Queue()
    left: asyncio.Queue[None] = asyncio.Queue()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while text := await speaks.get():
                writer.write(text)
            await reader.read()
        left.put_nowait(None)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        pool = Pool("127.0.0.1", port, headers=[], tls=None)
        speaks.put_nowait(OK)
        assert (await pool.request(PATCH, "")).body == b"{}"
        for text in (OK[:-1], b""):
            speaks.put_nowait(text)
        await asyncio.wait_for(left.get(), 5.0)
        make = partial(Connection, None, "127.0.0.1")
        _, connection = await asyncio.get_running_loop().create_connection(make, "127.0.0.1", port)
        for text in (OK[:-1], b""):
            speaks.put_nowait(text)
        await asyncio.wait_for(left.get(), 5.0)
        with pytest.raises(ConnectionResetError):
            await connection.send(b"GET / HTTP/1.1\r\n\r\n", timeout=5.0, whole=True)
        pool.close()


async def test_break_within_an_answer() -> None:
    """Half an answer is none."""
    script = Script([OK[:-1], CLOSE])
    async with pool_of(script) as pool:
        with pytest.raises(ConnectionResetError):
            await pool.request(PATCH, "")


async def test_given_up_requests_leave_no_connection() -> None:
    """After a timeout or a cancellation the connection is closed, for the late answer would be the next one's."""
    script = Script([], [])
    async with pool_of(script) as pool:
        with pytest.raises(TimeoutError):
            await pool.request(Request("PATCH", "/slow", timeout=0.01), "")
        await script.left.wait()
        script.left.clear()
        script.asked.clear()
        asking = asyncio.create_task(pool.request(PATCH, ""))
        await script.asked.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        await script.left.wait()
    assert script.connections == 2


async def test_compressed_answer() -> None:
    """A read asks for a compressed answer and takes it apart; what is damaged is no answer."""
    body = gzip.compress(b"{}" * 1000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    script = Script(head + body, head + body[:-5] + b"12345")
    async with pool_of(script, compression=True) as pool:
        get = Request("GET", "/x", timeout=5.0)
        assert (await pool.request(get, "")).body == b"{}" * 1000
        assert b"Accept-Encoding: gzip" in script.heads[0]
        with pytest.raises(ConnectionAbortedError, match="not HTTP"):
            await pool.request(get, "")


async def test_a_stream_is_read_as_it_comes() -> None:
    """What has come is given at once, also of a chunk that is not whole; an end out of the blue is an error."""
    script = Script([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nab", b"cdef\r\n", CLOSE], CHUNKED)
    async with pool_of(script) as pool:
        connection = await pool.open(PATCH, "")
        pieces = connection.pieces(None)
        got = await anext(pieces)
        while len(got) < len(b"abcdef"):
            got += await anext(pieces)
        assert got == b"abcdef"
        with pytest.raises(ConnectionResetError):
            await anext(pieces)
        connection.close()
        connection = await pool.open(PATCH, "")
        assert b"".join([piece async for piece in connection.pieces(None)]) == b"{'a':'bcdefghij'}"
        connection.close()


async def test_a_slow_reader_slows_the_server_down() -> None:
    """Of a stream that nobody reads only so much is taken in, and all of it comes once somebody does."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    script = Script([head, *[chunk] * 500, b"0\r\n\r\n"])
    async with pool_of(script) as pool:
        connection = await pool.open(PATCH, "")
        before = -1
        while (held := sum(map(len, connection.answer.pieces))) > before:
            before = held
            await asyncio.sleep(0.02)
        assert held < 2_000_000
        total = 0
        async for piece in connection.pieces(5.0):
            total += len(piece)
        assert total == 500 * 0x10000
        connection.close()


def two_sides(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Make what a server and its client speak TLS with."""
    authority, server = Authority(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    pair, file = authority.issue("server"), folder / "server.pem"
    file.write_bytes(pair.certificate + b"\n" + pair.key)
    server.load_cert_chain(file)
    client = ssl.create_default_context(cadata=authority.certificate.decode())
    client.check_hostname = False
    client.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return server, client


@pytest.mark.parametrize("polite", [True, False], ids=["goodbye", "cut"])
async def test_only_a_goodbye_ends_an_answer_over_tls(tmp_path: Path, *, polite: bool) -> None:
    """Of an answer without a length somebody on the way might cut the rest off, were it not for TLS's own end."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nall of it")
        await writer.drain()
        if polite:
            writer.close()
        else:
            writer.transport.abort()

    server_side, client_side = two_sides(tmp_path)
    async with await asyncio.start_server(speak, "127.0.0.1", 0, ssl=server_side) as server:
        pool = Pool("127.0.0.1", server.sockets[0].getsockname()[1], headers=[], tls=client_side)
        if polite:
            assert (await pool.request(PATCH, "")).body == b"all of it"
        else:
            with pytest.raises(ConnectionResetError):
                await pool.request(PATCH, "")


async def test_giving_up_while_connecting_leaves_nothing(tmp_path: Path) -> None:
    """Requests that are cancelled at any moment of the handshake leave no socket, and no complaint of asyncio's."""
    left: asyncio.Queue[None] = asyncio.Queue()
    complaints: list[object] = []

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        left.put_nowait(None)

    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    _, client_side = two_sides(tmp_path)
    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        pool = Pool("127.0.0.1", server.sockets[0].getsockname()[1], headers=[], tls=client_side)
        for turns in range(12):
            asking = asyncio.create_task(pool.request(PATCH, ""))
            for _ in range(turns):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await asyncio.wait_for(left.get(), 5.0)
        gc.collect()
    assert complaints == []


async def write(config: ClusterConfig, size: int = 0) -> None:
    """Patch something twice, so that the connection is used again."""
    client = HttpClient(config)
    try:
        for _ in range(2):
            await client.patch(NAMESPACE, "x", {"data": "x" * size})
    finally:
        await client.close()


@pytest.mark.parametrize("size", [0, 500_000])
async def test_writes_over_tls(tmp_path: Path, size: int) -> None:
    """A write goes along with the user's certificate, and is of any size."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        await write(replace(cluster, client_certificate=user.certificate, client_key=user.key), size)
    assert guard.seen == ["ada", "ada"]


async def test_writes_go_to_the_right_server_only(tmp_path: Path) -> None:
    """Another name, another authority, or no TLS at all: nothing is written, and the reason is told."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        config = replace(cluster, client_certificate=user.certificate, client_key=user.key)
        with pytest.raises(ConnectionFailed, match="certificate verify failed: IP address mismatch"):
            await write(replace(config, tls_server_name=""))
        with pytest.raises(ConnectionFailed, match="certificate verify failed"):
            await write(replace(config, ca=Authority().certificate))

    def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        writer.close()

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ConnectionFailed, match=r"can't be reached: \[SSL"):
            await write(replace(config, server=f"https://127.0.0.1:{port}"))
    assert guard.seen == []
