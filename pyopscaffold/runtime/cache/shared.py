"""The cache: one informer for each kind and selector, shared by all who ask for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias, cast

from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.runtime.cache.informer import Informer
from pyopscaffold.runtime.cache.reader import CacheReader
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.protocols import Client, Reader, Write

_Key: TypeAlias = "tuple[GroupVersionKind, tuple[str, ...], str, str]"


class Cache:
    """Holds what the server has of the watched kinds; reads see the writes of ``client`` at once.

    ``namespace`` restricts every namespaced informer to one namespace, or to several ('' means all). Use it from one
    event loop only.
    """

    def __init__(self, client: Client, *, clock: Clock | None = None, namespace: str | Sequence[str] = "") -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._namespaces = (namespace,) if isinstance(namespace, str) else tuple(namespace) or ("",)
        self._informers: dict[_Key, Informer] = {}
        self._group: asyncio.TaskGroup | None = None
        self.reader = cast("Reader", CacheReader(self._informers.values()))
        client.add_write_observer(self._wrote)

    def informer(self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "") -> Informer:
        """Return the informer of a kind; equal arguments share one. It starts with ``run``, or at once if that runs.

        Raises:
            ValueError: ``labels`` is no label selector.

        """
        gvk = gvk_of(kind)
        namespaces = (namespace,) if namespace else self._namespaces
        key = (gvk, namespaces if gvk.namespaced else ("",), labels, fields)
        found = self._informers.get(key)
        if found is None:
            found = Informer(self._client, gvk, clock=self._clock, namespaces=namespaces, labels=labels, fields=fields)
            self._informers[key] = found
            if self._group is not None:
                self._start(found, self._group)
        return found

    @property
    def informers(self) -> Sequence[Informer]:
        """All informers made so far."""
        return tuple(self._informers.values())

    async def run(self) -> None:
        """Keep all informers up to date, those that are added meanwhile too; until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                for informer in self.informers:
                    self._start(informer, group)
                await asyncio.Future()
            finally:
                self._group = None

    async def wait_synced(self) -> None:
        """Return once each informer made so far has its first list."""
        for informer in self.informers:
            await informer.wait_synced()

    def _start(self, informer: Informer, group: asyncio.TaskGroup) -> None:
        for reflector in informer.reflectors:
            group.create_task(reflector.run(), name=f"watch {informer.kind.group_resource}")

    def _wrote(self, write: Write) -> None:
        for informer in self._informers.values():
            if informer.kind == write.kind:
                informer.wrote(write)
