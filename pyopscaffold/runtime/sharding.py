"""Sharding: several replicas share the objects, each looks at those that a hash gives it.

A replica works on an object if the object is its own by its published view (``membership``, ``ring``), and by nobody
else's: views differ while replicas come and go. It publishes a view only when it no longer works on what that gives
away. Since each publishes first and then lists what the others have published, no two can both find an object free.

All of this belongs to the event loop's thread; the Lease lives on the side thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import ClientError, KubeconfigError, NotFound
from pyopscaffold.runtime.fencing import HELD, Grant, stamp_of
from pyopscaffold.runtime.handler import in_turns
from pyopscaffold.runtime.outcome import OwnershipLostError, classify, missing
from pyopscaffold.runtime.processor import DONE, Verdict
from pyopscaffold.runtime.ring import Ring

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pyopscaffold.api import GroupVersionKind
    from pyopscaffold.runtime.cache import Delta, Informer, Stored
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.membership import Membership, Sighting
    from pyopscaffold.runtime.queue import WorkQueue
    from pyopscaffold.runtime.reconcile import Request

_log = logging.getLogger("pyopscaffold.sharding")


@dataclass(frozen=True)
class Part:
    """The objects that a replica may work on: its own by all of ``views``, and nobody's by the ``claims`` of others."""

    me: str = ""
    term: int = 0
    views: tuple[Ring, ...] = ()
    claims: tuple[tuple[Ring, frozenset[str]], ...] = ()

    def has(self, namespace: str, name: str) -> bool:
        """Whether an object is in it."""
        return (
            bool(self.views)
            and all(ring.owner(namespace, name) == self.me for ring in self.views)
            and not any(ring.owner(namespace, name) in members for ring, members in self.claims)
        )


NOTHING = Part()


class Shards:
    """What this replica may work on now, for all controllers of the process."""

    def __init__(self) -> None:
        self.part = NOTHING
        self.replicas = 0
        self._membership: Membership | None = None
        self._published = NOTHING
        self._pending: tuple[Ring, ...] = ()
        self._asked: Ring | None = None
        self._held: Counter[Request] = Counter()
        self._listeners: list[Callable[[Part, Part], None]] = []

    def attach(self, membership: Membership) -> None:
        """Take the replica's place among the others; its sightings come by ``told``."""
        self._membership = membership

    def listen(self, listener: Callable[[Part, Part], None]) -> None:
        """Have each change of the part told, before anything else happens."""
        self._listeners.append(listener)

    def told(self, sighting: Sighting | None) -> None:
        """Take in what the membership saw; None: it is out."""
        if sighting is None:
            self.replicas, self._published, self._pending, self._asked = 0, NOTHING, (), None
            self._change()
            return
        ring = Ring(sighting.view)
        if self._pending and self._pending[-1] == ring:
            self._pending = ()
        # by our own view nobody else has what is ours
        views = {view for view in sighting.others.values() if view and view != ring.members}
        claims = tuple((Ring(view), _members_by(view, sighting)) for view in sorted(views))
        views_of_ours = (ring,) if sighting.view else ()
        self._published = Part(sighting.me, sighting.term, views_of_ours, claims)
        self.replicas = len(sighting.members)
        if sighting.members != (self._pending[-1] if self._pending else ring).members:
            _log.info("the objects are to be shared by %s replicas", self.replicas)
            self._pending = (*self._pending, Ring(sighting.members))
        self._change()
        self._publish_if_drained()

    def take(self, request: Request) -> Grant | None:
        """Begin to work on an object, to be ended by ``give_back``; None if it is another's, or our time is over."""
        part, membership = self.part, self._membership
        if membership is None or not part.has(request.namespace, request.name) or membership.left(part.term) <= 0:
            return None
        self._held[request] += 1
        return Grant(part.me, lambda: membership.left(part.term))

    def give_back(self, request: Request) -> None:
        """End the work on an object."""
        self._held[request] -= 1
        if not self._held[request]:
            del self._held[request]
        if self._pending:
            self._publish_if_drained()

    def _change(self) -> None:
        old, now = self.part, self._published
        # what is about to be given away counts as gone, until it is known which view the others see
        self.part = Part(now.me, now.term, (*now.views, *self._pending), now.claims) if now.views else NOTHING
        if self.part != old:
            for listener in self._listeners:
                listener(old, self.part)

    def _publish_if_drained(self) -> None:
        """Tell the newest view, unless it is told or gives away what we work on."""
        if not self._pending or self._membership is None or self._asked is self._pending[-1]:
            return
        me, newest = self._published.me, self._pending[-1]
        if all(newest.owner(request.namespace, request.name) == me for request in self._held):
            self._asked = newest
            self._membership.publish(me, newest.members)


def _members_by(view: tuple[str, ...], sighting: Sighting) -> frozenset[str]:
    return frozenset(name for name, theirs in sighting.others.items() if theirs == view)


class Share:
    """One controller's share: what it looks at, takes up when it becomes its own, and drops."""

    def __init__(
        self,
        shards: Shards,
        *,
        kind: GroupVersionKind,
        controller: str,
        client: Client,
        primary: Informer,
        queue: WorkQueue[Request],
        take_up: Callable[[Stored], None],
        forget: Callable[[Stored], None],
    ) -> None:
        self._shards = shards
        self._kind = kind
        self._client = client
        self._primary = primary
        self._queue = queue
        self._take_up = take_up
        self._forget = forget
        self._manager = controller
        self.stamp = stamp_of(kind.group, controller)
        self.objects = 0
        self._changes: list[tuple[Part, Part]] = []
        self._changed = asyncio.Event()
        shards.listen(self._note)
        primary.add_handler(self._count)

    def add(self, item: Request, *, priority: int = 0, after: float = 0.0) -> None:
        """Queue what is ours; the rest is taken up when it becomes ours."""
        if self._shards.part.has(item.namespace, item.name):
            self._queue.add(item, priority=priority, after=after)

    def guarded(self, process: Callable[..., Awaitable[Verdict]]) -> Callable[..., Awaitable[Verdict]]:
        """Return ``process`` for our own objects only: stamped before, and with a grant that its writes need."""

        async def look(request: Request, **options: Any) -> Verdict:
            grant = self._shards.take(request)
            if grant is None:
                return self._not_now(request)
            token = HELD.set(grant)
            try:
                verdict = await self._stamped(request, grant, options) or await process(request, **options)
            except OwnershipLostError as error:
                verdict = Verdict(failure=classify(error, failures=0), error=error)
            finally:
                HELD.reset(token)
                self._shards.give_back(request)
            if grant.left() > 0:
                return verdict
            _log.info("%s is no longer ours: given up", request)
            return self._not_now(request)

        return look

    async def run(self) -> None:
        """Take up what becomes ours; until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            changes, self._changes = self._changes, []
            if changes:
                await self._look_through([old for old, _ in changes], changes[-1][1])

    def _count(self, delta: Delta) -> None:
        """Count what comes and goes between two looks at all."""
        stored = delta.new or delta.old
        came = int(delta.old is None) - int(delta.new is None)
        if came and stored is not None and self._shards.part.has(stored.meta.namespace, stored.meta.name):
            self.objects += came

    def _note(self, old: Part, new: Part) -> None:
        self._changes.append((old, new))
        self._changed.set()

    async def _look_through(self, before: list[Part], part: Part) -> None:
        """Take up what is ours and was not at some time since the last look, for it may have been dropped then."""
        self.objects = 0
        async for stored in in_turns(self._primary.list()):
            key = stored.meta.namespace, stored.meta.name
            if part.has(*key):
                self.objects += 1
                if not all(old.has(*key) for old in before):
                    self._take_up(stored)
            elif any(old.has(*key) for old in before):
                self._forget(stored)

    def _not_now(self, request: Request) -> Verdict:
        """Drop what is another's; what is ours waits as for the server, which may not have renewed the Lease."""
        return Verdict(held=True) if self._shards.part.has(request.namespace, request.name) else DONE

    async def _stamped(self, request: Request, grant: Grant, options: dict[str, Any]) -> Verdict | None:
        """Touch an object that another replica had, so that nothing that was read before can be written any more."""
        namespace, name = request.namespace, request.name
        stored = self._primary.get(namespace, name)
        if stored is None or stored.meta.annotations.get(self.stamp) == grant.me:
            return None
        self._forget(stored)
        patch = {"metadata": {"uid": stored.meta.uid, "annotations": {self.stamp: grant.me}}}
        try:
            await self._client.patch(self._kind, name, patch, namespace=namespace, field_manager=self._manager)
        except (ClientError, KubeconfigError) as error:
            judge = missing if isinstance(error, NotFound) else classify
            failure = judge(error, failures=options.get("failures", 0))
            if not failure.quiet:
                _log.error("%s could not be taken over: %s", request, error)
            return Verdict(failure=failure, error=error)
        return None
