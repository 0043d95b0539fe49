"""The HTTP endpoints of an operator, ``/healthz``, ``/readyz`` and ``/metrics``: small GET-only servers."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from pyopscaffold.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

Endpoint: TypeAlias = "Callable[[], tuple[int, str, bytes]]"
"""Gives HTTP status, content type and body."""

_PORT_MAX = 65535
PLAIN = "text/plain; charset=utf-8"


def bind(address: str, *, flag: str) -> socket.socket | None:
    """Listen on ``:8080``, ``127.0.0.1:8080`` or ``[::1]:8080``; None for ``0``, which means off.

    Raises:
        UsageError: the address is malformed or taken; names the flag.

    """
    if address == "0":
        return None
    host, separator, port = address.rpartition(":")
    if not separator or not port.isdecimal() or int(port) > _PORT_MAX:
        raise UsageError(f"{flag}: {address!r} is no address", hint="write :8080, 127.0.0.1:8080, or 0 to turn it off")
    host = host.strip("[]")
    dual = not host and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual or ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(port)), family=family, dualstack_ipv6=dual)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"{flag}: can't listen on {address}: {reason}", hint=f"choose another port with {flag}, or 0 to turn it off"
        ) from error


def check(reason: Callable[[], str]) -> Endpoint:
    """Make an endpoint of a check that gives the reason why not, or an empty text."""

    def answer() -> tuple[int, str, bytes]:
        why = reason()
        return (500, PLAIN, f"not ok: {why}\n".encode()) if why else (200, PLAIN, b"ok\n")

    return answer


@asynccontextmanager
async def serving(listener: socket.socket, endpoints: Mapping[str, Endpoint]) -> AsyncIterator[None]:
    """Answer GET and HEAD for these paths on the running loop while the block lasts."""
    from aiohttp import web  # noqa: PLC0415 - reading a controller must not import aiohttp

    async def answer(request: web.Request) -> web.Response:
        status, content_type, body = endpoints[request.path]()
        return web.Response(status=status, body=body, headers={"Content-Type": content_type})

    app = web.Application()
    for path in endpoints:
        app.router.add_get(path, answer)
    runner = web.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()
