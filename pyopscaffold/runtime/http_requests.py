"""For operators that serve HTTP themselves: each request in a histogram and in a log line that agrees with it."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry

_CLIENT_GONE = 499
_FAILED = 500


@dataclass
class Observed:
    """A request under way; set ``status`` to what is answered."""

    status: int = 200


class HttpRequests:
    """``http_request_duration_seconds{method,path,status}`` in a registry, such as ``manager.metrics.registry``.

    Use it from any framework, around what handles a request::

        with requests.observe("GET", "/orders/{id}") as observed:
            observed.status = await handle(…)

    ``path`` is the route: one for each object would cost a time series for each.
    """

    def __init__(self, registry: CollectorRegistry, *, log: logging.Logger | None = None) -> None:
        from prometheus_client import Histogram  # noqa: PLC0415 - reading a controller does not need it

        self._log = log or logging.getLogger("pyopscaffold.http")
        self._seconds = Histogram(
            "http_request_duration_seconds", "Duration of a request", ["method", "path", "status"], registry=registry
        )

    @contextmanager
    def observe(self, method: str, path: str) -> Iterator[Observed]:
        """Observe the block. An exception counts as its own ``status`` (as aiohttp's have), or 500."""
        observed, started = Observed(), time.perf_counter()
        try:
            yield observed
        except asyncio.CancelledError:
            observed.status = _CLIENT_GONE
            raise
        except Exception as error:
            found = getattr(error, "status", None)
            observed.status = found if isinstance(found, int) else _FAILED
            raise
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000, 3)
            self._seconds.labels(method, path, str(observed.status)).observe(milliseconds / 1000)
            fields = {"method": method, "path": path, "status": observed.status, "latency_ms": milliseconds}
            self._log.info("request", extra={"fields": fields})
