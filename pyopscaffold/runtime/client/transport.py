"""How requests travel: a protocol of three methods, so that tests and other HTTP stacks can stand in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


@dataclass(frozen=True)
class Request:
    """One request. ``path`` is absolute and unescaped; ``timeout`` is in seconds; ``accept`` is what is to come back.

    ``timeout`` bounds the whole exchange, and for a stream the time until its headers; ``silence`` bounds the time
    without a byte in a stream.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"
    timeout: float = 30.0
    silence: float | None = None
    accept: str = "application/json"


@dataclass(frozen=True)
class Response:
    """The answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Stream:
    """An answer whose body is read as it comes: ``chunks`` ends when the server ends it."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


OnRequest: TypeAlias = Callable[[str, str, str], None]
"""Called with method, HTTP status (``<error>`` without one) and host:port after each exchange."""


def authority(host: str, port: int | None) -> str:
    """Return host:port as a URL has it: IPv6 addresses stand in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Transport(Protocol):
    """Carries requests to one server; adds the credentials; raises ConnectionFailed where there is no answer."""

    async def request(self, request: Request) -> Response:
        """Send a request and read the whole answer, whatever its status."""
        ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Send a request and hand out the answer's body in chunks."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
