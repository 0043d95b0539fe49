"""The cache: one informer for each kind and selector, shared by all who ask for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias, cast

from pyopscaffold.api.declarations import Kind, gvk_of
from pyopscaffold.errors import UsageError
from pyopscaffold.kube.builtin import NAMESPACE
from pyopscaffold.runtime.cache.informer import Informer
from pyopscaffold.runtime.cache.reader import CacheReader
from pyopscaffold.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.cache.informer import Transform
    from pyopscaffold.runtime.client.protocols import CachedReader, Client, Write
    from pyopscaffold.runtime.objects import Delta

_Key: TypeAlias = "tuple[GroupVersionKind, tuple[str, ...], str, str, bool]"


class Cache:
    """Holds what the server has of the watched kinds; reads see the writes of ``client`` at once.

    ``namespace`` restricts every namespaced informer to one namespace, or to several ('' means all);
    ``namespace_labels``, a label selector, to the namespaces that it selects at the moment. These are watched one by
    one, and not all namespaces with a filter: so the operator needs no right to the others, and never sees what is in
    them; the price is a connection for each kind and namespace. ``transforms`` are functions by kind, that cut an
    object down to what is worth keeping. Use a cache from one event loop only.

    Raises:
        UsageError: both ``namespace`` and ``namespace_labels`` are given.
        ValueError: ``namespace_labels`` is no label selector.

    """

    def __init__(
        self,
        client: Client,
        *,
        clock: Clock | None = None,
        namespace: str | Sequence[str] = "",
        namespace_labels: str = "",
        transforms: Mapping[Kind, Transform] | None = None,
    ) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._namespaces = (namespace,) if isinstance(namespace, str) else tuple(namespace) or ("",)
        self._transforms = {gvk_of(kind): transform for kind, transform in (transforms or {}).items()}
        self._informers: dict[_Key, Informer] = {}
        self._group: asyncio.TaskGroup | None = None
        self._tasks: dict[tuple[Informer, str], asyncio.Task[None]] = {}
        self._chosen: Informer | None = None
        if namespace_labels:
            if self._namespaces != ("",):
                raise UsageError("namespaces are chosen by name or by label, not by both")
            self._chosen = self.informer(NAMESPACE, labels=namespace_labels, metadata_only=True)
            self._chosen.add_handler(self._namespace_changed)
        self.reader = cast("CachedReader", CacheReader(self._informers.values()))
        client.add_write_observer(self._wrote)

    def informer(
        self, kind: Kind, *, namespace: str = "", labels: str = "", fields: str = "", metadata_only: bool = False
    ) -> Informer:
        """Return the informer of a kind; equal arguments share one. It starts with ``run``, or at once if that runs.

        Raises:
            ValueError: ``labels`` is no label selector.

        """
        gvk = gvk_of(kind)
        namespaces = (namespace,) if namespace else self._namespaces
        key = (gvk, namespaces if gvk.namespaced else ("",), labels, fields, metadata_only)
        found = self._informers.get(key)
        if found is None:
            self._informers[key] = found = Informer(
                self._client,
                gvk,
                clock=self._clock,
                namespaces=namespaces,
                labels=labels,
                fields=fields,
                metadata_only=metadata_only,
                transform=self._transforms.get(gvk),
                chosen=None if namespace else self._chosen,
                whole=not namespace,
            )
            if found.chosen is not None:
                for item in found.chosen.list():
                    found.open(item.meta.name)
            self._start(found)
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
                    self._start(informer)
                await asyncio.Future()
            finally:
                self._group = None
                self._tasks.clear()

    async def wait_synced(self) -> None:
        """Return once each informer made so far has its first list."""
        for informer in self.informers:
            await informer.wait_synced()

    def _start(self, informer: Informer) -> None:
        if self._group is None:
            return
        for namespace, reflector in informer.reflectors.items():
            if (informer, namespace) not in self._tasks:
                task = self._group.create_task(reflector.run(), name=f"watch {informer.kind.group_resource}")
                self._tasks[informer, namespace] = task

    def _namespace_changed(self, delta: Delta) -> None:
        """Open what a chosen namespace has, and close what a namespace had that is gone or no longer chosen."""
        if (delta.old is None) is (delta.new is None):
            return
        for informer in (informer for informer in self.informers if informer.chosen is not None):
            if delta.new is not None:
                informer.open(delta.new.meta.name)
                self._start(informer)
            elif delta.old is not None:
                name = delta.old.meta.name
                if (task := self._tasks.pop((informer, name), None)) is not None:
                    task.cancel()
                informer.close(name)

    def _wrote(self, write: Write) -> None:
        for informer in self._informers.values():
            if informer.kind == write.kind:
                informer.wrote(write)
