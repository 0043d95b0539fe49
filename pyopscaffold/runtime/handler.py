"""Handlers: from a change in the cache to the requests it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from pyopscaffold import codec
from pyopscaffold.api import GroupVersionKind
from pyopscaffold.kube.gvk import split_api_version
from pyopscaffold.runtime.predicate import both
from pyopscaffold.runtime.queue import INITIAL_PRIORITY
from pyopscaffold.runtime.reconcile import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyopscaffold.api.declarations import Watch
    from pyopscaffold.runtime.cache import Delta, Stored
    from pyopscaffold.runtime.predicate import Predicate
    from pyopscaffold.runtime.queue import WorkQueue

Mapper: TypeAlias = "Callable[[Stored], Iterable[Request]]"


def to_self(stored: Stored) -> Iterable[Request]:
    """Ask for the changed object itself."""
    return (Request(stored.meta.namespace, stored.meta.name),)


def to_owner(owner: GroupVersionKind) -> Mapper:
    """Ask for the object of kind ``owner`` that controls the changed one; the version does not matter."""

    def requests(stored: Stored) -> Iterable[Request]:
        reference = stored.meta.controller
        if reference is None or reference.kind != owner.kind:
            return ()
        if split_api_version(reference.api_version)[0] != owner.group:
            return ()
        return (Request(stored.meta.namespace if owner.namespaced else "", reference.name),)

    return requests


def by_map(watch: Watch) -> Mapper:
    """Ask for what the watch's map function says."""
    kind = watch.kind

    def requests(stored: Stored) -> Iterable[Request]:
        changed = (
            msgspec.json.decode(stored.raw) if isinstance(kind, GroupVersionKind) else codec.decode(kind, stored.raw)
        )
        return [Request(namespace, name) for namespace, name in watch.map(changed)]

    return requests


def handler(
    queue: WorkQueue[Request],
    mapper: Mapper,
    *,
    accepts: Predicate,
    failed: Callable[[Exception], None],
    skips: Callable[[Delta, Request], bool] | None = None,
) -> Callable[[Delta], None]:
    """Make an informer's handler that adds what ``mapper`` says of the old *and* the new object.

    Both count, since a change may move an object from one owner to another. Requests that ``skips`` are left out. A
    mapper that raises is reported to ``failed``, and costs nothing else.
    """

    def handle(delta: Delta) -> None:
        if not accepts(delta):
            return
        priority = INITIAL_PRIORITY if delta.initial else 0
        for stored in both(delta):
            try:
                for request in mapper(stored):
                    if skips is None or not skips(delta, request):
                        queue.add(request, priority=priority)
            except Exception as error:  # noqa: BLE001 - the author's code
                failed(error)

    return handle
