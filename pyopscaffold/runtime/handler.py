"""Handlers: from a change in the cache to the requests it asks for."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.kube.gvk import split_api_version
from pyopscaffold.runtime.objects import decode
from pyopscaffold.runtime.predicate import both
from pyopscaffold.runtime.queue import INITIAL_PRIORITY
from pyopscaffold.runtime.reconcile import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from pyopscaffold.api import GroupVersionKind
    from pyopscaffold.api.declarations import Watch
    from pyopscaffold.runtime.cache import Delta, Stored
    from pyopscaffold.runtime.predicate import Predicate

Mapper: TypeAlias = "Callable[..., Iterable[Request]]"
"""Takes a Stored; or the old and the new one, either of which may be None."""


T = TypeVar("T")

_TURN = 500


class News(Protocol):
    """Where requests go: a work queue, or what stands before it."""

    def add(self, item: Request, *, priority: int = 0) -> None:
        """Have the item looked at."""


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
    """Ask for what the watch's map function says, of one object or of both: ``takes_both`` tells."""
    kind = gvk_of(watch.kind) if watch.metadata_only else watch.kind

    def decoded(stored: Stored | None) -> Any:
        if stored is None:
            return None
        return decode(kind, stored)

    def requests(*changed: Stored | None) -> Iterable[Request]:
        return [_request(asked) for asked in watch.map(*map(decoded, changed))]

    return requests


def _request(asked: Any) -> Request:
    if isinstance(asked, str):  # it would be taken letter by letter
        raise TypeError(f"a map function gave {asked!r}, not (namespace, name)")
    return Request(*asked)


def takes_both(function: Callable[..., Any]) -> bool:
    """Whether a map function needs two arguments: the object before the change and after it."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some that are written in C don't tell
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(item.kind in positional and item.default is item.empty for item in parameters) > 1


def handler(
    queue: News,
    mapper: Mapper,
    *,
    accepts: Predicate,
    failed: Callable[[Exception], None],
    skips: Callable[[Delta, Request], bool] | None = None,
    together: bool = False,
) -> Callable[[Delta], None]:
    """Make an informer's handler that adds what ``mapper`` says of the old *and* the new object.

    Both count, since a change may move an object from one owner to another; the mapper is asked for one after the
    other, or ``together``. Requests that ``skips`` are left out. A mapper that raises is reported to ``failed``, and
    costs nothing else; so is a predicate, whose change counts then.
    """

    def handle(delta: Delta) -> None:
        try:
            if not accepts(delta):
                return
        except Exception as error:  # noqa: BLE001 - the author's code
            failed(error)
        priority = INITIAL_PRIORITY if delta.initial else 0
        for changed in ((delta.old, delta.new),) if together else zip(both(delta)):
            try:
                for request in mapper(*changed):
                    if skips is None or not skips(delta, request):
                        queue.add(request, priority=priority)
            except Exception as error:  # noqa: BLE001 - the author's code
                failed(error)

    return handle


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Give the items; after some hundred of them, whoever else waits for the event loop has it."""
    for index, item in enumerate(items, 1):
        yield item
        if index % _TURN == 0:
            await asyncio.sleep(0)
