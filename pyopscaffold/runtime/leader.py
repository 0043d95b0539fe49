"""Leader election: a Lease that one of several replicas holds.

Times are client-go's: a lease lasts 15 s, its holder renews it every 2 s and gives up when that failed for 10 s, be it
refused or not answered, so it has stopped before anybody else may begin. Others' time stamps are not trusted: a lease
is over when it was not changed by *our* monotonic clock for the duration that its holder gave it, which may be set to
another than ours. A renewal counts from when its request began.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import AlreadyExists, Conflict, NotFound, PyopscaffoldError
from pyopscaffold.kube.builtin import LEASE
from pyopscaffold.kube.meta import micro_time
from pyopscaffold.runtime.clock import limit

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.protocols import Client, RawObject
    from pyopscaffold.runtime.clock import Clock

_log = logging.getLogger("pyopscaffold.leader")


@dataclass(frozen=True, kw_only=True)
class LeaseTimes:
    """Seconds; ``duration``, which the Lease keeps as a whole number, > ``deadline`` > ``retry``."""

    duration: int = 15
    deadline: float = 10.0
    retry: float = 2.0

    @classmethod
    def of(cls, duration: int) -> LeaseTimes:
        """Return the times of a lease that lasts so long, in the usual proportion."""
        return cls(duration=duration, deadline=duration * 2 / 3, retry=duration * 2 / 15)


class LeaderElector:
    """One candidate for one lease."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str,
        clock: Clock,
        times: LeaseTimes | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._name = name
        self.identity = identity
        self._clock = clock
        self.times = times or LeaseTimes()
        self._lease: RawObject | None = None
        self._seen_spec: dict[str, Any] = {}
        self._seen_at = 0.0
        self._renewed_at = 0.0
        self._asked = False

    async def acquire(self) -> None:
        """Wait until the lease is ours; failures to ask for it are logged and tried again."""
        _log.info("waiting for the lease %s/%s", self._namespace, self._name)
        while not await self._attempt():
            await self._clock.sleep(self.times.retry)
        _log.info("leading as %s", self.identity)

    async def hold(self) -> None:
        """Renew the lease; returns when it is lost."""
        while True:
            await self._clock.sleep(min(self.times.retry, self._left()))
            if self._left() > 0 and await self._attempt(within=self._left()):
                continue
            holder = self._seen_spec.get("holderIdentity")
            if holder != self.identity or self._left() <= 0:
                late = self._clock.monotonic() - self._renewed_at
                _log.error("lost the lease: held by %s, last renewed %.1f s ago", holder or "nobody", late)
                return

    async def release(self, *, within: float = math.inf) -> None:
        """Give the lease up, so that another replica need not wait for its end; only after all work has stopped."""
        if self._seen_spec.get("holderIdentity") != self.identity and not self._asked:
            return
        now = micro_time(self._clock.now())
        spec = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": now, "acquireTime": now}
        try:
            async with limit(self._clock, min(within, self.times.deadline / 2)):
                # read anew: what was asked for and broken off may have reached the server all the same
                lease = await self._client.get(LEASE, self._name, namespace=self._namespace)
                if (lease.get("spec") or {}).get("holderIdentity") != self.identity:
                    return
                await self._write(lease, spec)
            _log.info("released the lease")
        except (PyopscaffoldError, TimeoutError) as error:
            _log.warning("could not release the lease: %s", error)

    def _left(self) -> float:
        """For how many seconds the lease may yet be held without being renewed."""
        return max(0.0, self._renewed_at + self.times.deadline - self._clock.monotonic())

    async def _attempt(self, *, within: float = math.inf) -> bool:
        """Try to get or renew the lease once; whether it is ours."""
        started, self._asked = self._clock.monotonic(), True
        try:
            async with limit(self._clock, min(within, self.times.deadline / 2)):
                ours = await self._acquire_or_renew()
        except Conflict:
            self._lease, self._asked = None, False  # somebody else wrote: read it anew
            return False
        except (PyopscaffoldError, TimeoutError) as error:  # KubeconfigError too: a credential plugin may recover
            _log.warning("the lease could not be asked for: %s", str(error) or "no answer in time")
            self._lease = None
            return False
        self._asked = False
        if ours:
            self._renewed_at = started
        return ours

    async def _acquire_or_renew(self) -> bool:
        lease = self._lease
        if lease is None or self._seen_spec.get("holderIdentity") != self.identity:
            try:
                lease = await self._client.get(LEASE, self._name, namespace=self._namespace)
            except NotFound:
                return await self._create()
            self._note(lease)
        holder = self._seen_spec.get("holderIdentity") or ""
        age = self._clock.monotonic() - self._seen_at
        if holder not in ("", self.identity) and age < self._seen_spec.get("leaseDurationSeconds", self.times.duration):
            return False
        self._note(await self._write(lease, self._spec(self._seen_spec)))
        return True

    async def _create(self) -> bool:
        lease = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._spec({}),
        }
        try:
            self._note(await self._client.create(lease, field_manager="leader-election"))
        except AlreadyExists:
            return False
        return True

    async def _write(self, lease: RawObject, spec: dict[str, Any]) -> RawObject:
        """Change the lease unless somebody else did meanwhile (Conflict)."""
        patch = {"metadata": {"resourceVersion": lease["metadata"]["resourceVersion"]}, "spec": spec}
        return await self._client.patch(
            LEASE, self._name, patch, namespace=self._namespace, field_manager="leader-election"
        )

    def _spec(self, old: dict[str, Any]) -> dict[str, Any]:
        now = micro_time(self._clock.now())
        spec = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self.times.duration,
            "renewTime": now,
        }
        if old.get("holderIdentity") != self.identity:
            spec |= {"acquireTime": now, "leaseTransitions": old.get("leaseTransitions", -1) + 1}
        return spec

    def _note(self, lease: RawObject) -> None:
        """Keep what was seen; its age starts anew only when it changed."""
        self._lease = lease
        spec = lease.get("spec") or {}
        if spec != self._seen_spec:
            self._seen_spec, self._seen_at = spec, self._clock.monotonic()
