"""An informer: a store that reflectors keep up to date, and the handlers that hear of each change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from pyopscaffold.kube import selector
from pyopscaffold.runtime.cache.store import IndexFunction, Store
from pyopscaffold.runtime.objects import Delta, Stored, parse
from pyopscaffold.runtime.watch import Reflector

if TYPE_CHECKING:
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.protocols import Client, Write
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[Delta], None]
Items: TypeAlias = list[Stored]  # in the class, "list" is the method

_BY_OWNER = "owner uid"


class Informer:
    """The objects of one kind that match the selectors, in all namespaces or in some. Made by ``Cache.informer``."""

    def __init__(
        self,
        client: Client,
        kind: GroupVersionKind,
        *,
        clock: Clock,
        namespaces: Sequence[str] = ("",),
        labels: str = "",
        fields: str = "",
    ) -> None:
        self.kind = kind
        self.namespaces = tuple(namespaces) if kind.namespaced else ("",)
        self.labels = labels
        self.fields = fields
        self._selector = selector.parse(labels)
        self._store = Store()
        self._store.add_index(_BY_OWNER, lambda item: [owner.uid for owner in item.meta.owner_references])
        self._handlers: list[Handler] = []
        self._first_lists: set[str] = set(self.namespaces)
        self.reflectors = tuple(
            Reflector(client, kind, self, clock=clock, namespace=namespace, labels=labels, fields=fields)
            for namespace in self.namespaces
        )

    @property
    def synced(self) -> bool:
        """Whether the first list has been taken in."""
        return all(reflector.synced.is_set() for reflector in self.reflectors)

    @property
    def failure(self) -> Exception | None:
        """Why the objects can't be listed or watched at the moment."""
        return next((reflector.failure for reflector in self.reflectors if reflector.failure is not None), None)

    @property
    def relists(self) -> int:
        """How often the list was taken again."""
        return sum(reflector.relists for reflector in self.reflectors)

    @property
    def events(self) -> int:
        """How many events the watches have brought, bookmarks and initial lists not counted."""
        return sum(reflector.events for reflector in self.reflectors)

    async def wait_synced(self) -> None:
        """Return once ``synced``."""
        for reflector in self.reflectors:
            await reflector.synced.wait()

    def relist(self) -> None:
        """List anew now, and go on watching from there."""
        for reflector in self.reflectors:
            reflector.relist()

    def add_handler(self, handler: Handler) -> None:
        """Have each change reported, in order, from within the event loop: handlers are quick and never block.

        The objects that are there already are reported at once, as initial additions.
        """
        self._handlers.append(handler)
        for item in self._store.all():
            _call(handler, Delta(None, item, initial=True))

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Keep objects findable by the values that a function gives for them."""
        self._store.add_index(name, function)

    def get(self, namespace: str, name: str) -> Stored | None:
        """Return an object, or None; the namespace of cluster-scoped kinds is ''."""
        return self._store.get(namespace, name)

    def list(self, namespace: str = "") -> Items:
        """Return the objects of a namespace; '' means all."""
        return self._store.all(namespace)

    def by_owner(self, uid: str) -> Items:
        """Return the objects that name an owner of this uid."""
        return self._store.by_index(_BY_OWNER, uid)

    def by_index(self, name: str, value: str) -> Items:
        """Return the objects for which the index's function gave this value."""
        return self._store.by_index(name, value)

    def replace(self, namespace: str, items: Items, version: int) -> None:
        """See watch.Sink."""
        initial = namespace in self._first_lists
        self._first_lists.discard(namespace)
        self._notify(self._store.replace(namespace, items, version, initial=initial))

    def put(self, item: Stored) -> None:
        """See watch.Sink."""
        self._notify(self._store.put(item))

    def remove(self, item: Stored) -> None:
        """See watch.Sink."""
        self._notify(self._store.remove(item))

    def wrote(self, write: Write) -> None:
        """Take what a write of our own left on the server, so that reads see it before the watch brings it."""
        if not write.body:
            self._notify(self._store.forget(write.namespace, write.name, write.uid))
            return
        item = parse(self.kind, write.body)
        if self._holds(item):
            self._notify(self._store.answered(item))

    def _holds(self, item: Stored) -> bool:
        meta = item.meta
        if self.namespaces != ("",) and meta.namespace not in self.namespaces:
            return False
        if not self._selector.matches(meta.labels):
            return False  # the watch reports what the selector has let go
        # only the server can evaluate field selectors: trust what it has selected before
        return not self.fields or self._store.get(meta.namespace, meta.name) is not None

    def _notify(self, deltas: Iterable[Delta]) -> None:
        for delta in deltas:
            for handler in self._handlers:
                _call(handler, delta)


def _call(handler: Handler, delta: Delta) -> None:
    try:
        handler(delta)
    except Exception:
        # one handler's fault must not cost the others their events, or stop the watch
        log.exception("an event handler failed")
