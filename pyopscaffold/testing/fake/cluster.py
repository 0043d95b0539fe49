"""FakeCluster: what a test holds in its hands."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pyopscaffold.api.declarations import gvk_of
from pyopscaffold.errors import ApiError, PyopscaffoldError
from pyopscaffold.kube.builtin import CUSTOM_RESOURCE_DEFINITION, NAMESPACE
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.kinds import collection_path
from pyopscaffold.runtime.client.transport import Request, Response
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.testing.fake import crds, one_look
from pyopscaffold.testing.fake.failure import Failure
from pyopscaffold.testing.fake.faults import Fault
from pyopscaffold.testing.fake.server import Server
from pyopscaffold.testing.fake.transport import Asked, FakeTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pyopscaffold.api import Object
    from pyopscaffold.api.declarations import Kind
    from pyopscaffold.errors import ClientError
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime import Manager, Reconciler
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.processor import Verdict

_CALM_TURNS: Final = 25
"""Turns of the event loop without any work, after which there is none; the longest chain of ours has about ten."""

_PATIENCE: Final = 10.0
_TURNS_PER_COUNT, _OFTEN = 200, 100
_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")


class UnsettledError(PyopscaffoldError):
    """The operator never came to rest; what it asked for is told."""


class FakeCluster:
    """An API server in memory; see :mod:`pyopscaffold.testing.fake` for what it does.

    ``resources`` are classes under ``@resource`` or CRDs, to be served from the start. Time is ``clock``'s, and stands
    still unless it is moved: creation times, backoffs and ``requeue_after`` are all by it. ``ignore_rules`` does
    without the CEL rules of CRDs, which are refused otherwise. One cluster belongs to one event loop. ``client`` is for
    it, and ``transport`` for clients of other kinds.
    """

    def __init__(
        self,
        *resources: type[Object] | Mapping[str, Any],
        clock: ManualClock | None = None,
        ignore_rules: bool = False,
    ) -> None:
        self.clock = clock or ManualClock()
        self._server = Server(lambda: f"{self.clock.now():%Y-%m-%dT%H:%M:%SZ}", ignore_rules=ignore_rules)
        self._faults: list[Fault] = []
        self.transport = FakeTransport(self._server, self.clock, self._faults)
        self._running: dict[int, asyncio.Task[None]] = {}
        self._patience = _CountedSleeps(self.clock)
        self.client: Client = ApiClient(self.transport, clock=self._patience)
        for name in _NAMESPACES:
            self.add_namespace(name)
        self.serve(*resources)

    @property
    def requests(self) -> Sequence[Asked]:
        """Every request so far; those for discovery are left out."""
        return self.transport.asked

    def serve(self, *resources: type[Object] | Mapping[str, Any]) -> None:
        """Install CRDs: of classes under ``@resource``, versions of one kind together, or as they are given.

        Raises:
            NotSimulatedError: a CRD has CEL rules or a conversion webhook.

        """
        versions: dict[str, list[type[Object]]] = {}
        given = []
        for item in resources:
            if isinstance(item, type):
                versions.setdefault(item.gvk.group_resource, []).append(item)
            else:
                given.append(item)
        for crd in (*(crds.crd_of(classes) for classes in versions.values()), *given):
            self._create(CUSTOM_RESOURCE_DEFINITION, crd)

    def add_namespace(self, name: str) -> None:
        """Make a namespace; those that every cluster has are there from the start."""
        self._create(NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def fail(
        self, error: ClientError, *, verb: str = "", kind: Kind | None = None, name: str = "", times: int = 1
    ) -> None:
        """Have the next requests of an RBAC verb, for a kind, for an object fail; what is left out is any.

        ``error`` is one of :mod:`pyopscaffold.errors`, such as ``Conflict("somebody was faster")``; its code and reason
        are those of its class, unless it has its own. ConnectionFailed stands for no answer.
        """
        self._faults.append(Fault(error, verb, None if kind is None else gvk_of(kind), name, times))

    def cut_watches(self, kind: Kind | None = None, *, cleanly: bool = False) -> None:
        """Break the connections of all watches, or of a kind's; ``cleanly`` as a server does that has had enough."""
        for watch in list(self.transport.watches):
            if kind is None or gvk_of(kind) == watch.resource.kind:
                watch.end("" if cleanly else "the connection was reset")

    def compact(self) -> None:
        """Forget the history: whoever comes back with an older version gets a 410, and has to list anew."""
        self._server.store.compact()

    async def reconcile(self, reconciler: Reconciler[Any] | type[Reconciler[Any]], obj: Object) -> Verdict:
        """Have a reconciler look at an object once, as a controller would: with finalizer, status and events.

        The object is made first, unless there is one of its name. What the reconciler raises is told by ``failure`` of
        the answer.

        Raises:
            NotSimulatedError: the reconciler has asked for something that the cluster does not do.

        """
        made = reconciler() if isinstance(reconciler, type) else reconciler
        metadata = obj.metadata
        if self._server.store.get(obj.gvk.group_resource, (metadata.namespace, metadata.name)) is None:
            await self.client.create(obj, field_manager="test")
        verdict = await one_look.at(self.client, self.clock, made, metadata)
        self._refuse_unsimulated()
        return verdict

    @asynccontextmanager
    async def operating(
        self, *reconcilers: Reconciler[Any] | type[Reconciler[Any]], **options: Any
    ) -> AsyncIterator[Manager]:
        """Run a manager while the block lasts, with ``Options`` of its own; it has settled when the block begins."""
        from pyopscaffold.runtime import Manager, Options  # noqa: PLC0415 - with all that an operator has

        quiet = {"metrics_bind_address": "0", "health_probe_bind_address": "0"}
        manager = Manager(reconcilers, options=Options(**{**quiet, **options}), client=self.client, clock=self.clock)
        running = asyncio.create_task(manager.run())
        self._running[id(manager)] = running
        try:
            await self.settle(manager)
            yield manager
        finally:
            del self._running[id(manager)]
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def settle(self, manager: Manager, *, seconds: float = 1.0) -> None:
        """Let so much time pass, by the clock, and return when nothing is left to do at its end.

        A second covers retries and reconnects; give more to see what ``requeue_after`` brings.

        Raises:
            UnsettledError: there is no end to it: most often a reconciler that changes something each time.
            NotSimulatedError: the operator has asked for something that the cluster does not do.

        """
        end = self.clock.monotonic() + seconds
        while True:
            await self._calm(manager)
            left = end - self.clock.monotonic()
            due = next(iter(self.clock.sleepers()), None)
            if due is None or due > left:
                break
            self.clock.advance(due)
        self.clock.advance(max(left, 0.0))
        await self._calm(manager)
        self._refuse_unsimulated()

    async def _calm(self, manager: Manager) -> None:
        """Return when nothing goes on but by the clock."""
        deadline, begin = time.monotonic() + _PATIENCE, len(self.requests)
        calm = turns = 0
        while calm < _CALM_TURNS:
            # user code in a thread is waited for, and not only asked for
            await asyncio.sleep(0 if calm or self.transport.in_flight else 0.0005)
            running = self._running.get(id(manager))
            if running is not None and running.done():
                running.result()
            calm, turns = calm + 1 if self._is_still(manager) else 0, turns + 1
            if time.monotonic() > deadline:
                last = ", ".join(map(str, self.requests[-6:]))
                raise UnsettledError(f"the operator is still at work after {_PATIENCE:g} s; its last requests: {last}")
            if turns % _TURNS_PER_COUNT == 0:
                self._refuse_restless(begin)

    def _refuse_unsimulated(self) -> None:
        error, self.transport.unsimulated = self.transport.unsimulated, None
        if error is not None:
            raise error

    def _refuse_restless(self, begin: int) -> None:
        for asked, times in Counter(self.requests[begin:]).most_common(1):
            if times > _OFTEN:
                raise UnsettledError(f"the operator does not come to rest: {times} times {asked}, and no time passed")

    def _is_still(self, manager: Manager) -> bool:
        transport = self.transport
        return (
            manager.ready
            and manager.leading
            and (manager.idle or self._patience.sleeping > 0)
            and not transport.in_flight
            and all(watch.idle for watch in transport.watches)
        )

    def _create(self, kind: GroupVersionKind, obj: Mapping[str, Any]) -> None:
        request = Request("POST", collection_path(kind, ""), body=msgspec.json.encode(obj))
        call = self._server.read(request)
        assert not isinstance(call, Response)  # noqa: S101 - no discovery
        try:
            self._server.handle(call)
        except Failure as failure:
            raise ApiError(failure.message, code=failure.code, reason=failure.reason) from failure


class _CountedSleeps:
    """A clock that knows how many sleep by it: requests that wait as the server has asked them to."""

    def __init__(self, clock: Clock) -> None:
        self.sleeping = 0
        self.now = clock.now
        self.monotonic = clock.monotonic
        self._sleep = clock.sleep

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self.sleeping += 1
        try:
            await self._sleep(seconds)
        finally:
            self.sleeping -= 1
