"""The HTTP endpoints of an operator, ``/healthz``, ``/readyz`` and ``/metrics``: small GET-only servers."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

from pyopscaffold.errors import UsageError
from pyopscaffold.runtime.serving import PLAIN, Answer, Handler, Request, listening

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Mapping

Endpoint: TypeAlias = Handler
Check: TypeAlias = "Callable[[], str | None]"
"""Gives the reason why not, or nothing."""

_PORT_MAX = 65535


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


class Checks:
    """An endpoint of named checks: ``/readyz`` asks all of them, ``/readyz/cache`` one, ``/readyz?verbose`` tells each.

    A check gives the reason why not, or nothing; an exception is a reason too. Checks are asked on the side thread:
    they have to be quick and safe to call from there.
    """

    def __init__(self, path: str, checks: Mapping[str, Check]) -> None:
        self._title = path.removeprefix("/")
        self._checks = checks

    async def __call__(self, request: Request) -> Answer:
        """See Endpoint."""
        name = request.path.removeprefix(f"/{self._title}").removeprefix("/")
        if name and name not in self._checks:
            return 404, PLAIN, f"there is no check {name!r}\n".encode()
        reasons = {key: _reason(check) for key, check in self._checks.items() if not name or key == name}
        failed = any(reasons.values())
        if not failed and "verbose" not in request.query:
            return 200, PLAIN, b"ok\n"
        lines = [f"[-]{key} failed: {why}" if why else f"[+]{key} ok" for key, why in reasons.items()]
        lines.append(f"{self._title} check {'failed' if failed else 'passed'}")
        return 500 if failed else 200, PLAIN, "\n".join([*lines, ""]).encode()


def _reason(check: Check) -> str:
    try:
        return check() or ""
    except Exception as error:  # noqa: BLE001 - the author's code
        return str(error) or type(error).__name__


@asynccontextmanager
async def serving(
    listener: socket.socket, endpoints: Mapping[str, Endpoint], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[None]:
    """Answer GET and HEAD for these paths, and those below of Checks, on the running loop while the block lasts."""
    below = {path: endpoint for path, endpoint in endpoints.items() if isinstance(endpoint, Checks)}

    async def answer(request: Request) -> Answer:
        endpoint = endpoints.get(request.path) or below.get(request.path.rpartition("/")[0])
        return await endpoint(request) if endpoint is not None else (404, PLAIN, b"404: Not Found")

    async with listening(listener, answer, tls=tls):
        yield
