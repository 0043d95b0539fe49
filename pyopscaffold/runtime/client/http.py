"""The client most callers want, and the transport it uses: direct, or over aiohttp where that is needed."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold import __version__
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.direct import DirectTransport
from pyopscaffold.runtime.client.proxy import proxy_from_environment
from pyopscaffold.runtime.client.transport import OnRequest
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    import aiohttp

    from pyopscaffold.runtime.client.config import ClusterConfig
    from pyopscaffold.runtime.client.transport import Request, Response, Stream, Transport

__all__ = ["HttpClient", "HttpTransport", "OnRequest", "user_agent"]

_SYSTEMS = {"win32": "windows"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def user_agent(name: str = "", version: str = "") -> str:
    """Return ``name/version (os/arch) pyopscaffold/x``; the name defaults to that of the program."""
    program = name or Path(sys.argv[0]).name or "unknown"
    system = _SYSTEMS.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return (
        f"{program}/{version or 'unknown'} ({system}/{_ARCHITECTURES.get(machine, machine)}) pyopscaffold/{__version__}"
    )


class HttpTransport:
    """A :class:`~pyopscaffold.runtime.client.transport.Transport` over HTTP/1.1.

    ``connect_timeout`` (seconds) bounds the making of a connection, with TLS. When certificates are renewed, new
    requests travel on new connections, and what is under way ends on the old ones.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str,
        on_request: OnRequest | None = None,
        clock: Clock | None = None,
        connect_timeout: float = 10.0,
        trace_configs: Sequence[aiohttp.TraceConfig] = (),
    ) -> None:
        proxy = config.proxy or proxy_from_environment(config.server, os.environ)
        told, time = on_request or _nobody, clock or SystemClock()
        if not proxy and not trace_configs:
            self._transport: Transport = DirectTransport(
                config, user_agent=user_agent, on_request=told, clock=time, connect_timeout=connect_timeout
            )
            return
        from pyopscaffold.runtime.client.through import AiohttpTransport  # noqa: PLC0415 - half an operator's memory

        self._transport = AiohttpTransport(
            config,
            user_agent=user_agent,
            proxy=proxy,
            on_request=told,
            clock=time,
            connect_timeout=connect_timeout,
            trace_configs=trace_configs,
        )

    async def request(self, request: Request) -> Response:
        """See Transport."""
        return await self._transport.request(request)

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """See Transport."""
        return self._transport.stream(request)

    async def close(self) -> None:
        """See Transport."""
        await self._transport.close()


class HttpClient(ApiClient):
    """A client of the server that ``config`` names. Make it anywhere; it connects when first used."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        user_agent: str = user_agent(),
        on_request: OnRequest | None = None,
        clock: Clock | None = None,
        connect_timeout: float = 10.0,
        timeout: float = 30.0,
        silence: float = 90.0,
        max_in_flight: int = 64,
        trace_configs: Sequence[aiohttp.TraceConfig] = (),
    ) -> None:
        transport = HttpTransport(
            config,
            user_agent=user_agent,
            on_request=on_request,
            clock=clock,
            connect_timeout=connect_timeout,
            trace_configs=trace_configs,
        )
        super().__init__(transport, clock=clock, timeout=timeout, silence=silence, max_in_flight=max_in_flight)


def _nobody(method: str, code: str, host: str) -> None:
    """Take no note of a request."""
