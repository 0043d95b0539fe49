"""Reads out of the informers; every answer is decoded anew, so callers may change what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import NotFound, PyopscaffoldError
from pyopscaffold.kube import selector
from pyopscaffold.runtime.cache.index import candidates
from pyopscaffold.runtime.objects import decode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.cache.informer import Informer
    from pyopscaffold.runtime.objects import Stored

_HEAD = ("apiVersion", "kind", "metadata")


class CacheReader:
    """A :class:`~pyopscaffold.runtime.client.protocols.CachedReader`; a read waits for the first list."""

    def __init__(self, informers: Iterable[Informer]) -> None:
        self._informers = informers

    async def get(self, kind: Kind, name: str, *, namespace: str = "") -> Any:
        """See Reader."""
        gvk = gvk_of(kind)
        informer = await self._synced(gvk, namespace)
        item = informer.get(namespace if gvk.namespaced else "", name)
        if item is None:
            where = f"{namespace}/{name}" if namespace else name
            raise NotFound(f"{gvk.group_kind} {where} is not in the cache", code=404, reason="NotFound")
        return decode(kind, item)

    async def list(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Any:
        """See Reader. Field selectors are the server's: only an informer that was made with them can answer."""
        informer = await self._synced(gvk_of(kind), namespace, labels=labels, fields=fields)
        return [decode(kind, item) for item in _select(informer, namespace, labels)]

    async def metadata(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Any:
        """See CachedReader."""
        gvk = gvk_of(kind)
        informer = await self._synced(gvk, namespace, labels=labels, fields=fields, metadata_only=True)
        whole = (decode(gvk, item) for item in _select(informer, namespace, labels))
        return [{name: obj[name] for name in _HEAD} for obj in whole]

    async def by_index(self, kind: Kind, name: str, value: str, *, namespace: str = "") -> Any:
        """See CachedReader."""
        gvk = gvk_of(kind)
        indexed = (found for found in self._informers if found.kind == gvk and found.has_index(name))
        informer = next((found for found in indexed if _covers(found, namespace)), None)
        if informer is None:
            raise PyopscaffoldError(
                f"the cache has no index {name!r} of {gvk.group_kind}: name it in indexes= of @controller"
            )
        await informer.wait_synced(namespace)
        return [decode(kind, item) for item in _within(informer.by_index(name, value), namespace)]

    async def by_owner(self, kind: Kind, uid: str, *, namespace: str = "") -> Any:
        """See CachedReader."""
        informer = await self._synced(gvk_of(kind), namespace)
        return [decode(kind, item) for item in _within(informer.by_owner(uid), namespace)]

    async def _synced(
        self, kind: GroupVersionKind, namespace: str, *, labels: str = "", fields: str = "", metadata_only: bool = False
    ) -> Informer:
        informer = self._find(kind, namespace, labels=labels, fields=fields, metadata_only=metadata_only)
        await informer.wait_synced(namespace)
        return informer

    def _find(
        self, kind: GroupVersionKind, namespace: str, *, labels: str, fields: str, metadata_only: bool
    ) -> Informer:
        """Return the narrowest informer that holds all that is asked for."""
        same_kind = [informer for informer in self._informers if informer.kind == kind]
        wanted = [(labels, fields, False), ("", fields, False)]
        if metadata_only:
            wanted = [(labels, fields, True), ("", fields, True), *wanted]
        for has in wanted:
            for informer in same_kind:
                covers = _covers(informer, namespace)
                if covers and (informer.labels, informer.fields, informer.metadata_only) == has:
                    return informer
        if not same_kind:
            raise PyopscaffoldError(
                f"the cache does not watch {kind.group_kind}: name it in owns= or watches= of @controller, "
                "or read it with ctx.client"
            )
        held = "; ".join(_extent(informer) for informer in same_kind)
        raise PyopscaffoldError(
            f"the cache holds {kind.group_kind} only for {held}; read the rest with ctx.client "
            f"(asked for: namespace={namespace!r}, labels={labels!r}, fields={fields!r})"
        )


def _covers(informer: Informer, namespace: str) -> bool:
    return informer.holds(namespace) if namespace else informer.whole


def _select(informer: Informer, namespace: str, labels: str) -> Iterable[Stored]:
    where = namespace if informer.kind.namespaced else ""
    if not labels or labels == informer.labels:
        return informer.list(where)
    selected = selector.parse(labels)
    found = candidates(informer, selected)
    items = informer.list(where) if found is None else _within(found, where)
    return (item for item in items if selected.matches(item.meta.labels))


def _within(items: Iterable[Stored], namespace: str) -> Iterable[Stored]:
    return (item for item in items if not namespace or item.meta.namespace == namespace)


def _extent(informer: Informer) -> str:
    namespaces = ", ".join(informer.namespaces) or "all"
    part = " (metadata only)" if informer.metadata_only else ""
    return f"namespace={namespaces} labels={informer.labels!r} fields={informer.fields!r}{part}"
