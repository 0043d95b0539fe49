"""HTTP/1.1 as a proxy sees it: heads as they are, bodies in pieces."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LAST_CHUNK = b"0\r\n\r\n"

_PIECE = 2**16
_NO_BODY = frozenset({204, 304})


class Source:
    """What comes in on a connection. ``ended`` can be waited for while nothing is read."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._buffer = bytearray()
        self._reading: asyncio.Task[bytes] | None = None

    async def ended(self) -> None:
        """Return when the peer has gone, or when it says something before it is asked."""
        await asyncio.wait({self._read()})

    async def until(self, end: bytes) -> bytes:
        """Read up to and with ``end``; raises EOFError."""
        while (found := self._buffer.find(end)) < 0:
            await self._more()
        return self._take(found + len(end))

    async def pieces(self, count: int) -> AsyncIterator[bytes]:
        """Read so many bytes, as they come; raises EOFError."""
        while count:
            if not self._buffer:
                await self._more()
            piece = self._take(min(count, len(self._buffer)))
            count -= len(piece)
            yield piece

    def close(self) -> None:
        """Read no more."""
        if self._reading is not None:
            self._reading.cancel()

    def _read(self) -> asyncio.Task[bytes]:
        if self._reading is None:
            self._reading = asyncio.create_task(self._reader.read(_PIECE))
        return self._reading

    async def _more(self) -> None:
        data = await asyncio.shield(self._read())
        if not data:
            raise EOFError
        self._reading = None
        self._buffer += data

    def _take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken


@dataclass(frozen=True)
class Head:
    """The head of a request or an answer: ``raw`` is its text, ``headers`` are in lower case."""

    raw: bytes
    first: tuple[str, ...]
    headers: dict[str, str]

    @property
    def status(self) -> int:
        """Of an answer."""
        return int(self.first[1])

    @property
    def chunked(self) -> bool:
        """Whether the body comes in chunks."""
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    def body(self, source: Source) -> AsyncIterator[bytes]:
        """Read the body in pieces; of a chunked one, what is in the chunks."""
        if self.chunked:
            return _chunks(source)
        length = 0 if self.first[1] in map(str, _NO_BODY) else int(self.headers.get("content-length", "0"))
        return source.pieces(length)


@dataclass(frozen=True)
class Seen:
    """A request that came by. ``resource`` is its plural, such as ``configmaps``; ``token`` who sent it."""

    method: str
    path: str
    query: dict[str, str]
    token: str

    @property
    def is_watch(self) -> bool:
        """Whether its answer does not end."""
        return self.query.get("watch", "") in {"1", "true"}

    @property
    def is_write(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"

    @property
    def resource(self) -> str:
        """Plural of the kind, '' for what is no object."""
        parts = self.path.strip("/").split("/")
        parts = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
        if parts[:1] == ["namespaces"] and len(parts) > 2:
            parts = parts[2:]
        return parts[0] if parts else ""


async def read_head(source: Source) -> Head:
    """Read a head; raises EOFError when there is none any more."""
    raw = await source.until(b"\r\n\r\n")
    first, *lines = raw.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return Head(raw, tuple(first.split(" ", 2)), {name.lower(): value.strip() for name, _, value in pairs})


def seen(head: Head) -> Seen:
    """Say what a request asks for."""
    target = urlsplit(head.first[1])
    token = head.headers.get("authorization", "").removeprefix("Bearer ")
    return Seen(head.first[0], unquote(target.path), dict(parse_qsl(target.query)), token)


def chunk(data: bytes) -> bytes:
    """Wrap a piece of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def status_body(code: int, *, message: str, retry_after: int | None = None) -> bytes:
    """Make a metav1.Status as the API server would: https://kubernetes.io/docs/reference/kubernetes-api/."""
    reasons = {
        400: "BadRequest",
        401: "Unauthorized",
        403: "Forbidden",
        404: "NotFound",
        410: "Expired",
        429: "TooManyRequests",
    }
    details = {} if retry_after is None else {"details": {"retryAfterSeconds": retry_after}}
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reasons.get(code, "InternalError"),
        "code": code,
        **details,
    }
    return json.dumps(body).encode()


def refusal(code: int, *, retry_after: int | None = None) -> bytes:
    """Make a whole answer that refuses a request."""
    body = status_body(code, message="a fault of the tests", retry_after=retry_after)
    asked = "" if retry_after is None else f"Retry-After: {retry_after}\r\n"
    lines = f"HTTP/1.1 {code} {HTTPStatus(code).phrase}\r\nContent-Type: application/json\r\n"
    return f"{lines}{asked}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _chunks(source: Source) -> AsyncIterator[bytes]:
    while size := int((await source.until(b"\r\n")).partition(b";")[0], 16):
        async for piece in source.pieces(size):
            yield piece
        await source.until(b"\r\n")
    await source.until(b"\r\n")
