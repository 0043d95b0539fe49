"""The requests of the Kubernetes API over any transport."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import Object
from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import ApiError, ClientError, Expired, ServerError, TooManyRequests
from pyopscaffold.runtime.client import wire
from pyopscaffold.runtime.client.kinds import Kinds, collection_path, object_path
from pyopscaffold.runtime.client.lines import split_lines
from pyopscaffold.runtime.client.protocols import (
    Page,
    PatchBody,
    PatchType,
    Propagation,
    WatchEvent,
    Write,
    WriteObserver,
)
from pyopscaffold.runtime.client.status import error_of, is_error
from pyopscaffold.runtime.client.transport import Request, Response, Transport
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from pyopscaffold.kube.gvk import GroupVersionKind

log = logging.getLogger(__name__)

_APPLY = "application/apply-patch+yaml"  # JSON is YAML
_PATCH_TYPES: dict[PatchType, str] = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
# what the server sets and no client may claim; uid and resourceVersion stay, as preconditions
_SERVER_FIELDS = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "selfLink",
    }
)
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')
_ATTEMPTS = 5
_LONGEST_WAIT = 10.0
_WARNINGS_KEPT = 1000


class ApiClient:
    """A :class:`~pyopscaffold.runtime.client.protocols.Client` over a transport.

    At most ``max_in_flight`` requests are under way at once (watches not counted). A 429 with Retry-After, and for
    reads a 503 with one, is waited out up to five times, ten seconds each at most. ``timeout`` is in seconds.
    """

    def __init__(
        self, transport: Transport, *, clock: Clock | None = None, timeout: float = 30.0, max_in_flight: int = 64
    ) -> None:
        self._transport = transport
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._slots = asyncio.Semaphore(max_in_flight)
        self._kinds = Kinds(self._fetch)
        self._observers: list[WriteObserver] = []
        self._warned: set[str] = set()

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
    ) -> Page:
        """See Client."""
        query = _query(
            labelSelector=labels, fieldSelector=fields, limit=str(limit) if limit else "", **{"continue": continue_}
        )
        response = await self._send("GET", collection_path(gvk_of(kind), namespace), query=query)
        return wire.page(response.body)

    async def create(self, obj: Any, *, field_manager: str, dry_run: bool = False) -> Any:
        """See Writer."""
        kind, mapping = await self._addressed(obj)
        metadata = mapping.get("metadata") or {}
        namespace = metadata.get("namespace", "")
        if kind.namespaced and not namespace:
            raise ClientError(f"{kind.group_kind} {metadata.get('name', '')!r} needs metadata.namespace")
        response = await self._send(
            "POST",
            collection_path(kind, namespace),
            query=_query(fieldManager=field_manager, dryRun="All" if dry_run else ""),
            body=msgspec.json.encode(mapping),
        )
        made = wire.decode(_kind_of_answer(obj, kind), response.body)
        self._wrote(kind, namespace, metadata.get("name", ""), response, dry_run=dry_run)
        return made

    async def apply(
        self, obj: Any, *, field_manager: str, force: bool = True, subresource: str = "", dry_run: bool = False
    ) -> Any:
        """See Writer."""
        kind, mapping = await self._addressed(obj)
        metadata = {key: value for key, value in (mapping.get("metadata") or {}).items() if key not in _SERVER_FIELDS}
        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        response = await self._send(
            "PATCH",
            object_path(kind, namespace, name, subresource),
            query=_query(
                fieldManager=field_manager, force="true" if force else "false", dryRun="All" if dry_run else ""
            ),
            body=msgspec.json.encode({**mapping, "metadata": metadata}),
            content_type=_APPLY,
        )
        applied = wire.decode(_kind_of_answer(obj, kind), response.body)
        self._wrote(kind, namespace, name, response, subresource=subresource, dry_run=dry_run)
        return applied

    async def patch(
        self,
        kind: Kind,
        name: str,
        patch: PatchBody,
        *,
        namespace: str = "",
        patch_type: PatchType = "merge",
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> Any:
        """See Writer."""
        gvk = gvk_of(kind)
        response = await self._send(
            "PATCH",
            object_path(gvk, namespace, name, subresource),
            query=_query(fieldManager=field_manager, dryRun="All" if dry_run else ""),
            body=msgspec.json.encode(patch),
            content_type=_PATCH_TYPES[patch_type],
        )
        patched = wire.decode(kind, response.body)
        self._wrote(gvk, namespace, name, response, subresource=subresource, dry_run=dry_run)
        return patched

    async def delete(
        self,
        kind: Kind,
        name: str,
        *,
        namespace: str = "",
        propagation: Propagation = "Background",
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> None:
        """See Writer."""
        gvk = gvk_of(kind)
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
        if preconditions := _query(uid=uid, resourceVersion=resource_version):
            options["preconditions"] = preconditions
        if dry_run:
            options["dryRun"] = ["All"]
        path = object_path(gvk, namespace, name)
        response = await self._send("DELETE", path, body=msgspec.json.encode(options))
        if dry_run:
            return
        answer = wire.deleted(response.body)
        if answer.stays:
            self._report(Write(gvk, namespace, name, body=response.body))
        else:
            self._report(Write(gvk, namespace, name, uid=answer.metadata.uid or answer.details.uid or uid))

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
    ) -> AsyncGenerator[WatchEvent]:
        """See Client."""
        query = _query(
            watch="true",
            allowWatchBookmarks="true",
            labelSelector=labels,
            fieldSelector=fields,
            resourceVersion=resource_version,
            resourceVersionMatch="NotOlderThan" if initial_events else "",
            sendInitialEvents="true" if initial_events else "",
            timeoutSeconds=str(int(timeout)),
        )
        request = Request("GET", collection_path(gvk_of(kind), namespace), query, timeout=self._timeout)
        where = f"watch {request.path}"
        async with self._transport.stream(request) as stream:
            if is_error(stream.status):
                body = b"".join([chunk async for chunk in stream.chunks])
                raise error_of(stream.status, stream.headers, body, where=where)
            async with aclosing(split_lines(stream.chunks)) as batches:
                async for batch in batches:
                    for line in batch:
                        yield wire.event(line, where)

    def add_write_observer(self, observer: WriteObserver) -> None:
        """See Client."""
        self._observers.append(observer)

    async def close(self) -> None:
        """See Client."""
        await self._transport.close()

    async def _addressed(self, obj: Any) -> tuple[GroupVersionKind, Mapping[str, Any]]:
        if isinstance(obj, Object):
            return obj.gvk, codec.to_mapping(obj)
        return await self._kinds.of(obj), obj

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
        request = Request(method, path, query or {}, body, content_type, self._timeout)
        attempt = 1
        while True:
            async with self._slots:
                response = await self._transport.request(request)
            if not is_error(response.status):
                self._log_warnings(response)
                return response
            error = error_of(response.status, response.headers, response.body, where=f"{method} {path}")
            if attempt == _ATTEMPTS or not _waits_out(method, error):
                raise error
            attempt += 1
            # spread out, or all that were told the same second come back at once
            await self._clock.sleep((error.retry_after or 0.0) * random.uniform(1.0, 1.25))  # noqa: S311

    def _wrote(
        self,
        kind: GroupVersionKind,
        namespace: str,
        name: str,
        response: Response,
        *,
        dry_run: bool,
        subresource: str = "",
    ) -> None:
        # other subresources answer with another kind, such as Scale
        if not dry_run and subresource in {"", "status"}:
            self._report(Write(kind, namespace, name, body=response.body))

    def _report(self, write: Write) -> None:
        for observer in self._observers:
            observer(write)

    def _log_warnings(self, response: Response) -> None:
        for text in _WARNING.findall(response.headers.get("warning", "")):
            if text not in self._warned and len(self._warned) < _WARNINGS_KEPT:
                self._warned.add(text)
                log.warning("the API server warns: %s", text)


def _waits_out(method: str, error: ApiError) -> bool:
    """Whether the server asked for patience, and the request surely had no effect yet."""
    untouched = isinstance(error, TooManyRequests) or (isinstance(error, ServerError) and method == "GET")
    return untouched and error.retry_after is not None and error.retry_after <= _LONGEST_WAIT


def _query(**parameters: str) -> dict[str, str]:
    return {name: value for name, value in parameters.items() if value}


def _kind_of_answer(obj: Any, kind: GroupVersionKind) -> Kind:
    return type(obj) if isinstance(obj, Object) else kind
