"""Reads out of the informers; every answer is decoded anew, so callers may change what they get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold import codec
from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import NotFound, PyopscaffoldError
from pyopscaffold.kube import selector
from pyopscaffold.kube.gvk import GroupVersionKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.runtime.cache.informer import Informer
    from pyopscaffold.runtime.objects import Stored

_decode_mapping = msgspec.json.Decoder(dict[str, Any]).decode


class CacheReader:
    """A :class:`~pyopscaffold.runtime.client.protocols.Reader` that costs no request; waits for the first list."""

    def __init__(self, informers: Iterable[Informer]) -> None:
        self._informers = informers

    async def get(self, kind: Kind, name: str, *, namespace: str = "") -> Any:
        """See Reader."""
        gvk = gvk_of(kind)
        informer = self._find(gvk, namespace)
        await informer.wait_synced()
        item = informer.get(namespace if gvk.namespaced else "", name)
        if item is None:
            where = f"{namespace}/{name}" if namespace else name
            raise NotFound(f"{gvk.group_kind} {where} is not in the cache", code=404, reason="NotFound")
        return decode(kind, item)

    async def list(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Any:
        """See Reader. Field selectors are the server's: only an informer that was made with them can answer."""
        informer = self._find(gvk_of(kind), namespace, labels=labels, fields=fields)
        await informer.wait_synced()
        items = informer.list(namespace if informer.kind.namespaced else "")
        if labels and labels != informer.labels:
            selected = selector.parse(labels)
            items = [item for item in items if selected.matches(item.meta.labels)]
        return [decode(kind, item) for item in items]

    def _find(self, kind: GroupVersionKind, namespace: str, *, labels: str = "", fields: str = "") -> Informer:
        """Return the narrowest informer that holds all that is asked for."""
        same_kind = [informer for informer in self._informers if informer.kind == kind]
        for wanted in ((labels, fields), ("", fields)):
            for informer in same_kind:
                covers = informer.namespaces == ("",) or namespace in informer.namespaces
                if covers and (informer.labels, informer.fields) == wanted:
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


def decode(kind: Kind, item: Stored) -> Any:
    """Return a fresh object of a class, or a fresh mapping."""
    return _decode_mapping(item.raw) if isinstance(kind, GroupVersionKind) else codec.decode(kind, item.raw)


def _extent(informer: Informer) -> str:
    namespaces = ", ".join(informer.namespaces) or "all"
    return f"namespace={namespaces} labels={informer.labels!r} fields={informer.fields!r}"
