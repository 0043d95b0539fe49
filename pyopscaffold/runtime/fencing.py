"""Writes of a reconcile that come late: refused here by the time that is left, and by the server by what they build on.

Two halves, since whoever checks and then writes may be stopped in between:

1. No write leaves once the Lease of its replica has run out, and none waits for its answer longer than that.
2. Each names the version of the object that it knows, or that it knows none; what was read before the check of the
   first half is stale as soon as the next owner has touched the object, which it does before all else.

docs/adr/0015 says what follows from it and what does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import ApiError, Conflict, FieldConflict, Invalid
from pyopscaffold.kube.gvk import split_api_version
from pyopscaffold.runtime.client.api import APPLY, ApiClient
from pyopscaffold.runtime.objects import parse_meta
from pyopscaffold.runtime.outcome import OwnershipLostError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from contextlib import AbstractAsyncContextManager

    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.cache import Cache
    from pyopscaffold.runtime.client.protocols import PatchBody
    from pyopscaffold.runtime.client.transport import Request, Response, Stream, Transport
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.objects import Meta

T = TypeVar("T")

_TRIES = 5
_NEVER = "1"
"""The resourceVersion of no object, as etcd's first revision is that of nothing: an apply with it makes the object or
meets a conflict, since the server compares versions only with what is there (k8s.io/apiserver, ``Store.Update``)."""


@dataclass(frozen=True)
class Grant:
    """The right of one reconcile to write, as the replica ``me``; ``left`` is for how many seconds yet."""

    me: str
    left: Callable[[], float]


HELD: ContextVar[Grant | None] = ContextVar("HELD", default=None)
"""The grant of the reconcile that runs; None for everything else, which writes as it likes."""


def stamp_of(group: str, controller: str) -> str:
    """Return the annotation that says by which replica a controller's object, or a child of it, was last taken over."""
    return f"{group}/{controller}-shard"


class GuardedTransport:
    """A Transport that lets no write of a reconcile leave when its grant is over, or be under way any longer."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def request(self, request: Request) -> Response:
        """See Transport; raises OwnershipLostError."""
        grant = HELD.get()
        if grant is None or request.method == "GET":
            return await self._transport.request(request)
        lost = OwnershipLostError(f"{request.method} {request.path}: others may own the object by now")
        if (left := grant.left()) <= 0:
            raise lost
        try:
            # all of it: to get a credential and to connect may take long as well, and only then it is sent
            async with asyncio.timeout(left):
                return await self._transport.request(request)
        except TimeoutError:  # that of the lease: a transport tells its own as a ClientError
            raise lost from None

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """See Transport."""
        return self._transport.stream(request)

    async def close(self) -> None:
        """See Transport."""
        await self._transport.close()


class FencedClient(ApiClient):
    """A client whose writes inside a reconcile build on what the cache knows, as far as that has the kind.

    Where that is no longer so the object is read anew and the write tried again: these conflicts are nobody's concern.
    ``create`` needs nothing, as it makes what is not there; ``replace`` always names a version.
    """

    def __init__(self, transport: Transport, *, clock: Clock | None = None) -> None:
        super().__init__(GuardedTransport(transport), clock=clock)
        self._cache: Cache | None = None

    def fence_by(self, cache: Cache) -> None:
        """Know objects by this cache from now on."""
        self._cache = cache

    async def delete(
        self, kind: Kind, name: str, *, namespace: str = "", resource_version: str = "", **how: Any
    ) -> None:
        """See Writer."""

        async def send(known: Meta | None) -> None:
            version = resource_version or (known.resource_version if known is not None else "")
            await super(FencedClient, self).delete(kind, name, namespace=namespace, resource_version=version, **how)

        if resource_version:
            await send(None)
        else:
            await self._fenced(gvk_of(kind), namespace, name, send)

    async def _change(
        self,
        method: str,
        kind: GroupVersionKind,
        metadata: Mapping[str, str],
        body: Any,
        *,
        content_type: str = "application/json",
        **how: Any,
    ) -> Any:
        async def send(asked: Any) -> Any:
            return await super(FencedClient, self)._change(
                method, kind, metadata, asked, content_type=content_type, **how
            )

        namespace, name = metadata.get("namespace", ""), metadata.get("name", "")
        grant = HELD.get()
        if grant is None or method == "PUT":
            return await send(body)
        if content_type != APPLY:
            return await self._fenced(
                kind,
                namespace,
                name,
                lambda known: send(body if known is None else _based_on(body, known.resource_version)),
            )
        if metadata.get("resourceVersion"):
            return await send(body)
        makes = not how["subresource"]
        stamped = _stamped(metadata, how["fieldManager"], grant.me) if makes else metadata
        if not self._holds(kind, namespace):
            return await send({**body, "metadata": stamped})
        return await self._fenced(
            kind,
            namespace,
            name,
            lambda known: send({**body, "metadata": _asking(stamped, known, makes=makes)}),
            makes=makes,
        )

    async def _fenced(
        self,
        kind: GroupVersionKind,
        namespace: str,
        name: str,
        send: Callable[[Meta | None], Awaitable[T]],
        *,
        makes: bool = False,
    ) -> T:
        """Send a write that builds on what is known, again when it turns out that something newer is there.

        ``makes``: where nothing is known, ``send`` makes the object or fails.
        """
        if HELD.get() is None or not self._holds(kind, namespace):
            return await send(None)
        known = self._known(kind, namespace, name)
        if known is None and not makes:
            known = await self._there(kind, namespace, name)
        for _ in range(_TRIES - 1):
            try:
                return await send(known)
            except (Conflict, Invalid) as error:
                if not _raced(error):
                    raise
                there = await self._there(kind, namespace, name)
                if _version(there) == _version(known):
                    raise
                known = there
        return await send(known)

    def _holds(self, kind: GroupVersionKind, namespace: str) -> bool:
        informers = () if self._cache is None else self._cache.informers
        return any(informer.kind.group_kind == kind.group_kind and informer.holds(namespace) for informer in informers)

    def _known(self, kind: GroupVersionKind, namespace: str, name: str) -> Meta | None:
        for informer in () if self._cache is None else self._cache.informers:
            if informer.kind.group_kind == kind.group_kind and (stored := informer.get(namespace, name)) is not None:
                return stored.meta
        return None

    async def _there(self, kind: GroupVersionKind, namespace: str, name: str) -> Meta | None:
        """Read what there is past the cache, by a list of one: the role needs no further verb for it."""
        page = await self.list_page(kind, namespace=namespace, fields=f"metadata.name={name}", limit=1)
        return parse_meta(page.items[0]) if page.items else None


def _version(known: Meta | None) -> str:
    return "" if known is None else known.resource_version


def _raced(error: ApiError) -> bool:
    """Whether the server refused a write because of what it builds on."""
    if isinstance(error, Invalid):
        # a JSON patch's failed test is all that the server refuses without a cause
        return not error.causes
    return not isinstance(error, FieldConflict)


def _asking(metadata: Mapping[str, Any], known: Meta | None, *, makes: bool) -> Mapping[str, Any]:
    """Have an apply build on what is known; where nothing is, it makes the object or fails."""
    if known is not None:
        # the version alone would let an apply make anew what is gone
        return {"uid": known.uid, **metadata, "resourceVersion": known.resource_version}
    return {**metadata, "resourceVersion": _NEVER} if makes else metadata


def _based_on(patch: PatchBody, version: str) -> PatchBody:
    if not isinstance(patch, Mapping):
        return [{"op": "test", "path": "/metadata/resourceVersion", "value": version}, *patch]
    return {**patch, "metadata": {"resourceVersion": version, **(patch.get("metadata") or {})}}


def _stamped(metadata: Mapping[str, Any], controller: str, me: str) -> Mapping[str, Any]:
    """Have a child say whose it is: the first apply of a new owner then surely changes it."""
    owner = next((ref for ref in metadata.get("ownerReferences") or () if ref.get("controller")), None)
    if owner is None:
        return metadata
    stamp = stamp_of(split_api_version(owner["apiVersion"])[0], controller)
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), stamp: me}}
