"""A watch that goes on: through ends, broken connections and busy servers, from the last version it has seen."""

from __future__ import annotations

import logging
import random
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.errors import ApiError, ConnectionFailed, ServerError, TooManyRequests
from pyopscaffold.runtime.client import wire
from pyopscaffold.runtime.clock import backoff

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.runtime.client.reads import ApiReader
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

_SERVER_TIMEOUT = (300.0, 600.0)
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 30.0


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Versioned(msgspec.Struct):
    metadata: _Meta


async def follow(
    client: ApiReader,
    clock: Clock,
    kind: Kind,
    *,
    namespace: str,
    labels: str,
    fields: str,
    resource_version: str,
    initial: bool,
) -> AsyncGenerator[tuple[str, Any]]:
    """See Client.follow."""
    version, token = resource_version, ""
    while not version:
        # without initial objects, the first page is enough: every page tells the version of the whole list
        limit = 500 if initial else 1
        page = await client.list_page(
            kind, namespace=namespace, labels=labels, fields=fields, limit=limit, continue_=token
        )
        if initial:
            for item in page.items:
                yield "ADDED", wire.decode(kind, item)
        token = page.continue_ if initial else ""
        version = "" if token else page.resource_version
    failures = 0
    while True:
        timeout = random.uniform(*_SERVER_TIMEOUT)  # noqa: S311 - spreads reconnects
        delay = 0.0
        before = version
        try:
            watch = client.watch(
                kind, namespace=namespace, labels=labels, fields=fields, resource_version=version, timeout=timeout
            )
            async with aclosing(watch) as events:
                async for event in events:
                    version = wire.read_as(_Versioned, event.object).metadata.resource_version
                    if event.type != "BOOKMARK":
                        yield event.type, wire.decode(kind, event.object)
        except (ConnectionFailed, TooManyRequests, ServerError) as error:
            log.info("%s: following goes on: %s", getattr(kind, "__name__", kind), error)
            delay = (error.retry_after if isinstance(error, ApiError) else None) or 0.0
        # a server that hangs up at once must not be called in a loop
        failures = 0 if version != before else failures + 1
        if failures:
            delay = max(delay, backoff(_FIRST_DELAY, failures - 1, _LONGEST_DELAY))
        await clock.sleep(delay * random.uniform(1.0, 1.25))  # noqa: S311
