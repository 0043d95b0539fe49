"""What an operator serves: health, and metrics, for everybody or for those only whom the API server lets read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.runtime.access import Guard
from pyopscaffold.runtime.health import Checks, bind, serving
from pyopscaffold.runtime.metrics import CONTENT_TYPE, Metrics
from pyopscaffold.runtime.tls import context_of, self_signed_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager, AsyncExitStack

    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.health import Check, Endpoint
    from pyopscaffold.runtime.options import Options
    from pyopscaffold.runtime.serving import Answer, Request
    from pyopscaffold.runtime.side_thread import SideThread

HEALTH, METRICS = "--health-probe-bind-address", "--metrics-bind-address"


class Endpoints:
    """Serves on the side thread until ``stack`` is closed; ``ports`` has each flag's."""

    def __init__(self, options: Options, side: SideThread, stack: AsyncExitStack) -> None:
        self._options = options
        self._side = side
        self._stack = stack
        self.ports: dict[str, int] = {}

    async def serve_health(self, live: Mapping[str, Check], ready: Mapping[str, Check]) -> None:
        """Serve the checks; raises UsageError for an address that can't be listened on."""
        endpoints = {"/healthz": Checks("/healthz", live), "/readyz": Checks("/readyz", ready)}
        await self._listen(HEALTH, self._options.health_probe_bind_address, endpoints)

    async def serve_metrics(self, metrics: Metrics, *, reviewer: Client | None, clock: Clock) -> None:
        """Serve the metrics, with ``--metrics-secure`` to those whom the API server, asked by ``reviewer``, allows.

        Raises:
            UserError: the address can't be listened on, or there is no certificate.

        """

        async def scrape(_: Request) -> Answer:
            return 200, CONTENT_TYPE, metrics.text()

        options, address = self._options, self._options.metrics_bind_address
        if not options.metrics_secure or address == "0":
            await self._listen(METRICS, address, {"/metrics": scrape})
            return
        assert reviewer is not None  # noqa: S101 - the manager makes one for it
        folder = options.metrics_cert_path
        if folder is None:
            tls = self_signed_context()
        else:
            tls = context_of(folder / options.metrics_cert_name, folder / options.metrics_cert_key)
        await self._listen(METRICS, address, {"/metrics": Guard(scrape, reviewer, clock=clock)}, tls=tls)

    async def _listen(
        self, flag: str, address: str, endpoints: Mapping[str, Endpoint], *, tls: ssl.SSLContext | None = None
    ) -> None:
        listener = bind(address, flag=flag)
        if listener is None:
            return
        self._stack.callback(listener.close)
        self.ports[flag] = listener.getsockname()[1]
        server = serving(listener, endpoints, tls=tls)
        await self._side.run(server.__aenter__())
        self._stack.push_async_callback(_stop, self._side, server)


async def _stop(side: SideThread, server: AbstractAsyncContextManager[None]) -> None:
    await side.run(server.__aexit__(None, None, None))
