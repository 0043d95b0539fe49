"""The requests of the Kubernetes API over any transport: those that change nothing."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import Expired
from pyopscaffold.runtime.client import wire
from pyopscaffold.runtime.client.exchange import Exchange
from pyopscaffold.runtime.client.follow import follow
from pyopscaffold.runtime.client.kinds import Kinds, collection_path, object_path
from pyopscaffold.runtime.client.lines import split_lines
from pyopscaffold.runtime.client.transport import Request, Response, Transport
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import msgspec

    from pyopscaffold.runtime.client.protocols import Page, Scale, WatchEvent, WriteObserver

_WHOLE = "application/json"
_METADATA = "application/json;as={};g=meta.k8s.io;v=v1,application/json"
"""https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches; else whole objects come."""


class ApiReader:
    """The reading half of :class:`~pyopscaffold.runtime.client.api.ApiClient`."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock | None = None,
        timeout: float = 30.0,
        silence: float = 90.0,
        max_in_flight: int = 64,
    ) -> None:
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._silence = silence
        self._exchange = Exchange(transport, self._clock, max_in_flight=max_in_flight)
        self._observers: list[WriteObserver] = []
        self.discovery = Kinds(self._fetch)

    async def get(self, kind: Kind, name: str, *, namespace: str = "") -> Any:
        """See Reader."""
        gvk = gvk_of(kind)
        response = await self._send("GET", object_path(gvk, namespace, name))
        return wire.decode(kind, response.body)

    async def list(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Any:
        """See Reader."""
        limit, token = 500, ""
        items: list[msgspec.Raw] = []
        while True:
            try:
                page = await self.list_page(
                    kind, namespace=namespace, labels=labels, fields=fields, limit=limit, continue_=token
                )
            except Expired:
                if not token:
                    raise
                # the list grew too old between two pages: take it anew, in one piece
                limit, token = 0, ""
                items.clear()
                continue
            items += page.items
            if not (token := page.continue_):
                return [wire.decode(kind, item) for item in items]

    async def list_page(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        limit: int = 500,
        continue_: str = "",
        metadata_only: bool = False,
    ) -> Page:
        """See Client."""
        query = query_of(
            labelSelector=labels, fieldSelector=fields, limit=str(limit) if limit else "", **{"continue": continue_}
        )
        accept = _METADATA.format("PartialObjectMetadataList") if metadata_only else _WHOLE
        path = collection_path(gvk_of(kind), namespace)
        response = await self._exchange.send(Request("GET", path, query, timeout=self._timeout, accept=accept))
        return wire.page(response.body)

    async def get_scale(self, kind: Kind, name: str, *, namespace: str = "") -> Scale:
        """See Client."""
        response = await self._send("GET", object_path(gvk_of(kind), namespace, name, "scale"))
        return wire.scale(response.body)

    async def watch(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial_events: bool = False,
        timeout: float = 300.0,  # noqa: ASYNC109 - the server's own time limit, not ours
        metadata_only: bool = False,
    ) -> AsyncGenerator[WatchEvent]:
        """See Client."""
        query = query_of(
            watch="true",
            allowWatchBookmarks="true",
            labelSelector=labels,
            fieldSelector=fields,
            resourceVersion=resource_version,
            resourceVersionMatch="NotOlderThan" if initial_events else "",
            sendInitialEvents="true" if initial_events else "",
            timeoutSeconds=str(int(timeout)),
        )
        path = collection_path(gvk_of(kind), namespace)
        accept = _METADATA.format("PartialObjectMetadata") if metadata_only else _WHOLE
        request = Request("GET", path, query, timeout=self._timeout, silence=self._silence, accept=accept)
        where = f"watch {path}"
        async with (
            self._exchange.stream(request, where) as stream,
            aclosing(split_lines(stream.chunks)) as batches,
        ):
            async for batch in batches:
                for line in batch:
                    yield wire.event(line, where)

    def follow(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        initial: bool = False,
    ) -> AsyncGenerator[tuple[Any, Any]]:
        """See Client."""
        scope = {"namespace": namespace, "labels": labels, "fields": fields}
        return follow(self, self._clock, kind, **scope, resource_version=resource_version, initial=initial)

    async def close(self) -> None:
        """See Client."""
        await self._exchange.close()

    async def _fetch(self, path: str) -> bytes:
        return (await self._send("GET", path)).body

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes = b"",
        content_type: str = "application/json",
    ) -> Response:
        return await self._exchange.send(Request(method, path, query or {}, body, content_type, self._timeout))


def query_of(**parameters: str) -> dict[str, str]:
    """Return the parameters that are not ''."""
    return {name: value for name, value in parameters.items() if value}
