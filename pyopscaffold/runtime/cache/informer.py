"""An informer: a store that reflectors keep up to date, and the handlers that hear of each change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from pyopscaffold.errors import UsageError
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
Transform: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Takes an object in JSON form and returns what is to be kept of it; the identity in its metadata has to stay."""

Items: TypeAlias = list[Stored]  # in the class, "list" is the method

_BY_OWNER = "owner uid"


class Informer:
    """The objects of one kind that match the selectors, in all namespaces or in some. Made by ``Cache.informer``.

    With ``chosen``, an informer of Namespaces, the namespaces come and go with its objects, by ``open`` and ``close``;
    one that can't be read does not hold up the others. ``whole`` says that this is all that the cache is to know of the
    kind and its selectors.
    """

    def __init__(
        self,
        client: Client,
        kind: GroupVersionKind,
        *,
        clock: Clock,
        namespaces: Sequence[str] = ("",),
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
        transform: Transform | None = None,
        chosen: Informer | None = None,
        whole: bool = True,
    ) -> None:
        self.kind = kind
        self.labels = labels
        self.fields = fields
        self.metadata_only = metadata_only
        self.chosen = chosen if kind.namespaced else None
        self.whole = whole or not kind.namespaced
        self._client = client
        self._clock = clock
        self._transform = transform
        self._selector = selector.parse(labels)
        self._store = Store()
        self._indexes: dict[str, IndexFunction] = {}
        self._store.add_index(_BY_OWNER, lambda item: [owner.uid for owner in item.meta.owner_references])
        self._handlers: list[Handler] = []
        self._first_lists: set[str] = set()
        self._reflectors: dict[str, Reflector] = {}
        if self.chosen is None:
            for namespace in namespaces if kind.namespaced else ("",):
                self.open(namespace)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that are followed; '' means all."""
        return tuple(self._reflectors)

    @property
    def reflectors(self) -> Mapping[str, Reflector]:
        """What follows each namespace."""
        return self._reflectors

    @property
    def synced(self) -> bool:
        """Whether the first list has been taken in."""
        return (self.chosen is None or self.chosen.synced) and all(event.is_set() for event in self._first_words())

    @property
    def failure(self) -> Exception | None:
        """Why the objects can't be listed or watched at the moment."""
        followed = tuple(self._reflectors.values())  # as of now: readiness is asked from another thread
        return next((found.failure for found in followed if found.failure is not None), None)

    @property
    def relists(self) -> int:
        """How often the list was taken again."""
        return sum(reflector.relists for reflector in self._reflectors.values())

    @property
    def events(self) -> int:
        """How many events the watches have brought, bookmarks and initial lists not counted."""
        return sum(reflector.events for reflector in self._reflectors.values())

    async def wait_synced(self, namespace: str = "") -> None:
        """Return once ``synced``, or once the objects of one namespace are there."""
        if self.chosen is not None:
            await self.chosen.wait_synced()
        if namespace in self._reflectors:
            await self._reflectors[namespace].synced.wait()
            return
        while (missing := next((event for event in self._first_words() if not event.is_set()), None)) is not None:
            await missing.wait()

    def relist(self) -> None:
        """List anew now, and go on watching from there."""
        for reflector in self._reflectors.values():
            reflector.relist()

    def open(self, namespace: str) -> Reflector:
        """Have a namespace followed too, by the reflector that is returned, once somebody runs it."""
        self._first_lists.add(namespace)
        self._reflectors[namespace] = reflector = Reflector(
            self._client,
            self.kind,
            self,
            clock=self._clock,
            namespace=namespace,
            labels=self.labels,
            fields=self.fields,
            metadata_only=self.metadata_only,
        )
        return reflector

    def close(self, namespace: str) -> None:
        """Drop a namespace, whose reflector has ended: its objects are reported as deleted."""
        reflector = self._reflectors.pop(namespace)
        reflector.tried.set()  # whoever waits for it need not any more
        reflector.synced.set()
        self._notify(self._store.replace(namespace, [], 0, initial=False))

    def holds(self, namespace: str) -> bool:
        """Whether the objects of a namespace are here, as far as the selectors select them."""
        return namespace in self._reflectors or "" in self._reflectors

    def add_handler(self, handler: Handler) -> None:
        """Have each change reported, in order, from within the event loop: handlers are quick and never block.

        The objects that are there already are reported at once, as initial additions.
        """
        self._handlers.append(handler)
        for item in self._store.all():
            _call(handler, Delta(None, item, initial=True))

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Keep objects findable by the values that a function gives for them.

        Raises:
            UsageError: there is another index of that name.

        """
        if self._indexes.setdefault(name, function) != function:
            raise UsageError(
                f"{self.kind.group_kind} has two indexes called {name!r}", hint="give one of them another name"
            )
        self._store.add_index(name, function)

    def has_index(self, name: str) -> bool:
        """Whether ``by_index`` knows this name."""
        return name in self._indexes

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

    def read(self, text: bytes | msgspec.Raw) -> Stored:
        """See watch.Sink."""
        item = parse(self.kind, text, metadata_only=self.metadata_only)
        held = self._store.get(item.meta.namespace, item.meta.name)
        if held is not None and held.version == item.version and held.meta.uid == item.meta.uid and item.version:
            return held  # a list of what is here already must not take its memory twice
        return item if self._transform is None else _transformed(self._transform, self.kind, item)

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
        item = self.read(write.body)
        if self._selects(item):
            self._notify(self._store.answered(item))

    def _first_words(self) -> Iterable[Any]:
        """Yield what is waited for: the first lists, or where namespaces come and go, the first attempts."""
        for reflector in tuple(self._reflectors.values()):
            yield reflector.synced if self.chosen is None else reflector.tried

    def _selects(self, item: Stored) -> bool:
        meta = item.meta
        if not self.holds(meta.namespace):
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


def _transformed(transform: Transform, kind: GroupVersionKind, item: Stored) -> Stored:
    """Return what the author's function leaves of an object; the whole, where the function fails."""
    try:
        kept = parse(kind, msgspec.json.encode(transform(msgspec.json.decode(item.raw))))
    except Exception:
        log.exception("%s %s: the transform failed, the whole object is kept", kind.group_kind, item.meta.name)
        return item
    if _identity(kept) != _identity(item):
        log.error("%s %s: the transform has changed what object it is, so it does not count", kind, item.meta.name)
        return item
    return kept


def _identity(item: Stored) -> tuple[str, str, str, str]:
    meta = item.meta
    return meta.namespace, meta.name, meta.uid, meta.resource_version
