"""One replica's place among those that share the objects: a Lease of its own, found by a label.

Who has a Lease is a member. Each says in its Lease by which members it divides the objects (its *view*), and renews it
every retry period. A replica counts itself out when it has not renewed for ``deadline``; the others delete its
Lease when they have not seen it change for ``eviction``, which is longer, by their own clocks. Deletion and renewal
both name the resourceVersion they build on, so a late renewal can't bring back a member that others have given up:
it finds its Lease gone, and begins anew under another name. docs/adr/0015 has the reasons.

All methods but ``left`` and ``publish`` belong to the side thread's loop.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import Conflict, NotFound, PyopscaffoldError
from pyopscaffold.kube.builtin import LEASE
from pyopscaffold.kube.meta import micro_time
from pyopscaffold.runtime.clock import limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.runtime.client.protocols import Client, RawObject
    from pyopscaffold.runtime.clock import Clock

FIELD_MANAGER = "sharding"
_log = logging.getLogger("pyopscaffold.sharding")


@dataclass(frozen=True, kw_only=True)
class ShardTimes:
    """Seconds, all from how long a Lease lasts: a lost replica's objects are taken over within it.

    ``eviction`` - ``deadline`` is what two clocks may differ by, and ``duration`` - ``eviction`` what it may take to
    see a renewal (one retry) and to take over.
    """

    duration: float = 15.0

    @property
    def retry(self) -> float:
        """A Lease is renewed so often."""
        return self.duration * 2 / 15

    @property
    def deadline(self) -> float:
        """Without a renewal for so long, a replica writes no more."""
        return self.duration * 9 / 15

    @property
    def eviction(self) -> float:
        """Without a renewal seen for so long, a replica is out."""
        return self.duration * 11 / 15


@dataclass(frozen=True)
class Sighting:
    """What a list of all Leases told that began after ``view`` stood in ours.

    ``others`` has the views of all other members; ``term`` is the time of validity in which it was made.
    """

    me: str
    term: int
    view: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]]

    @property
    def members(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(sorted((self.me, *self.others)))


@dataclass
class _Seen:
    version: str
    at: float


@dataclass
class _Own:
    """Our Lease, as the last write or list left it; ``view`` is what the last successful write said."""

    name: str
    version: str
    view: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


class Membership:
    """Keeps one replica's Lease, and tells what it sees of the others: a Sighting, or None when it is out."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        group: str,
        identity: str,
        clock: Clock,
        told: Callable[[Sighting | None], object],
        times: ShardTimes | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self._label = f"{group}/shard-group"
        self._view_key = f"{group}/shard-members"
        self._identity = identity
        self._clock = clock
        self._told = told
        self.times = times or ShardTimes()
        self.term = 0
        self._until = -math.inf
        self._own: _Own | None = None
        self._seen: dict[str, _Seen] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    def left(self, term: int) -> float:
        """Seconds for which may yet be written what was begun in a term; of any thread."""
        until = self._until  # before the term: see _renewed
        return until - self._clock.monotonic() if self.term == term else 0.0

    def publish(self, me: str, view: tuple[str, ...]) -> None:
        """Have the Lease called ``me`` say that the objects are divided by this view; of any thread."""
        own = self._own
        if own is not None and own.name == me:
            own.wanted = view
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self) -> None:
        """Be a member until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self.turn()
            await self._pause()

    async def turn(self) -> None:
        """Join or renew, look at the others, and tell; failures are logged, and tried again next time."""
        self._wake.clear()
        try:
            async with limit(self._clock, self.times.deadline / 2):
                await (self._join() if self._own is None else self._renew(self._own))
                if self._own is not None:
                    await self._look(self._own)
        except (PyopscaffoldError, TimeoutError) as error:
            _log.warning("the lease of this shard could not be renewed: %s", str(error) or "no answer in time")

    async def leave(self, *, within: float = math.inf) -> None:
        """Give up the place, so that the others need not wait for its end; only after all work has stopped."""
        own, self._own = self._own, None
        self._out()
        if own is None:
            return
        try:
            async with limit(self._clock, min(within, self.times.deadline / 2)):
                await self._client.delete(LEASE, own.name, namespace=self._namespace)
            _log.info("left the shards as %s", own.name)
        except NotFound:
            return
        except (PyopscaffoldError, TimeoutError) as error:
            _log.warning("could not give up the lease of this shard: %s", error)

    async def _join(self) -> None:
        started, name = self._clock.monotonic(), f"{self._name}-{random.getrandbits(40):010x}"
        lease = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {
                "name": name,
                "namespace": self._namespace,
                "labels": {self._label: self._name},
                "annotations": {self._view_key: ""},
            },
            "spec": self._spec() | {"acquireTime": micro_time(self._clock.now())},
        }
        made = await self._client.create(lease, field_manager=FIELD_MANAGER)
        self._own = _Own(name, made["metadata"]["resourceVersion"])
        self._renewed(started)
        _log.info("joined the shards as %s", name)

    async def _renew(self, own: _Own) -> None:
        started, view = self._clock.monotonic(), own.wanted
        patch = {
            "metadata": {"resourceVersion": own.version, "annotations": {self._view_key: ",".join(view)}},
            "spec": self._spec(),
        }
        try:
            lease = await self._client.patch(
                LEASE, own.name, patch, namespace=self._namespace, field_manager=FIELD_MANAGER
            )
        except NotFound:
            self._lost(own)
            return
        except Conflict:
            # by hand, or by our own write before whose answer did not come: the list tells
            await self._reread(own)
            return
        own.version, own.view = lease["metadata"]["resourceVersion"], view
        self._renewed(started)

    async def _reread(self, own: _Own) -> None:
        for lease in await self._list():
            if lease["metadata"]["name"] == own.name:
                own.version = lease["metadata"]["resourceVersion"]
                self._wake.set()
                raise Conflict("somebody else wrote it", code=409, reason="Conflict")
        self._lost(own)

    def _renewed(self, started: float) -> None:
        """Count the renewal from when its request began; after a gap it is a new term.

        The term comes first: a reader that finds the new end finds the new term too.
        """
        if self._clock.monotonic() > self._until:
            self.term += 1
            self._seen.clear()  # while we could not write, the others could not either, perhaps
        self._until = started + self.times.deadline

    def _lost(self, own: _Own) -> None:
        _log.warning("the lease %s is gone: others have taken over, joining anew", own.name)
        self._own = None
        self._out()
        self._wake.set()

    def _out(self) -> None:
        self.term += 1
        self._until = -math.inf
        self._told(None)

    async def _look(self, own: _Own) -> None:
        """List all Leases after our own was written, and put out whoever does not renew."""
        term, view, leases = self.term, own.view, await self._list()
        now = self._clock.monotonic()
        others = {lease["metadata"]["name"]: lease for lease in leases}
        if others.pop(own.name, None) is None:
            self._lost(own)
            return
        self._seen = {name: self._seen.get(name) or _Seen("", now) for name in others}
        for name, lease in list(others.items()):
            seen, version = self._seen[name], lease["metadata"]["resourceVersion"]
            if seen.version != version:
                seen.version, seen.at = version, now
            elif now - seen.at >= self.times.eviction and self.left(term) > 0 and await self._evict(lease):
                del others[name]
        self._told(Sighting(own.name, term, view, {name: self._view(lease) for name, lease in others.items()}))

    async def _evict(self, lease: RawObject) -> bool:
        """Delete the Lease as it was seen; whether it is gone."""
        meta, spec = lease["metadata"], lease.get("spec") or {}
        try:
            await self._client.delete(
                LEASE,
                meta["name"],
                namespace=self._namespace,
                uid=meta["uid"],
                resource_version=meta["resourceVersion"],
            )
        except NotFound:
            return True
        except Conflict:
            return False
        _log.warning("%s (%s) does not renew its lease: taking over", meta["name"], spec.get("holderIdentity", ""))
        return True

    async def _list(self) -> list[RawObject]:
        # without a resourceVersion the server answers with what is newest
        selected = f"{self._label}={self._name}"
        return await self._client.list(LEASE, namespace=self._namespace, labels=selected)

    def _view(self, lease: RawObject) -> tuple[str, ...]:
        text = (lease["metadata"].get("annotations") or {}).get(self._view_key, "")
        return tuple(filter(None, text.split(",")))

    def _spec(self) -> dict[str, Any]:
        return {
            "holderIdentity": self._identity,
            "leaseDurationSeconds": max(1, round(self.times.duration)),
            "renewTime": micro_time(self._clock.now()),
        }

    async def _pause(self) -> None:
        """Until the next renewal, the end of another's time, or news."""
        now = self._clock.monotonic()
        ends = [seen.at + self.times.eviction - now for seen in self._seen.values()]
        seconds = max(0.01, min([self.times.retry, *ends]))
        waits = [asyncio.ensure_future(self._wake.wait()), asyncio.ensure_future(self._clock.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
