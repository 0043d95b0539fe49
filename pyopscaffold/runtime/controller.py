"""A controller: informers feed its queue, workers take from it and look at one object each."""

from __future__ import annotations

import asyncio
import logging
import random
from functools import partial
from typing import TYPE_CHECKING, Any

from pyopscaffold.api.declarations import controller_of, gvk_of
from pyopscaffold.errors import UsageError
from pyopscaffold.runtime import predicate
from pyopscaffold.runtime.cache import Delta
from pyopscaffold.runtime.cache import index as index_of
from pyopscaffold.runtime.children import Children
from pyopscaffold.runtime.finalizer import finalizer_name
from pyopscaffold.runtime.handler import by_map, handler, in_turns, takes_both, to_owner, to_self
from pyopscaffold.runtime.outcome import Failure, classify
from pyopscaffold.runtime.processor import Processor, Verdict, paused_by, skips_finalize
from pyopscaffold.runtime.queue import INITIAL_PRIORITY, WorkQueue
from pyopscaffold.runtime.reconcile import Request

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.api import GroupVersionKind
    from pyopscaffold.api.declarations import ControllerDeclaration, Watch
    from pyopscaffold.runtime.cache import Cache, Informer, Stored
    from pyopscaffold.runtime.children import Owner
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.events import EventRecorder
    from pyopscaffold.runtime.metrics import ControllerMetrics
    from pyopscaffold.runtime.queue import Backoff
    from pyopscaffold.runtime.reconcile import Reconciler
    from pyopscaffold.runtime.sharding import Shards, Share
    from pyopscaffold.runtime.tenants import Tenants
    from pyopscaffold.runtime.tracing import Tracing

GRACE = 25.0
"""Seconds that running reconciles have to end in; a Pod has 30 by default."""

_log = logging.getLogger("pyopscaffold.controller")


def declaration_for(reconciler: Reconciler[Any]) -> ControllerDeclaration:
    """Return what ``@controller`` said about the reconciler's class.

    Raises:
        UsageError: the class is not under ``@controller``.

    """
    declaration = controller_of(type(reconciler))
    if declaration is None:
        name = type(reconciler).__name__
        raise UsageError(f"{name} is no controller", hint="put @controller(…) above the class")
    return declaration


def kinds_of(declaration: ControllerDeclaration) -> tuple[GroupVersionKind, ...]:
    """Return the kinds that the controller reads: its primary, owned and watched ones."""
    kinds = [declaration.resource.gvk, *map(gvk_of, declaration.owns), *(gvk_of(w.kind) for w in declaration.watches)]
    return tuple(dict.fromkeys(kinds))


def _informer_of(cache: Cache, watch: Watch) -> Informer:
    return cache.informer(watch.kind, labels=watch.labels, fields=watch.fields, metadata_only=watch.metadata_only)


class Controller:
    """Runs one reconciler. Made before the cache runs, since it asks the cache for its informers."""

    def __init__(
        self,
        reconciler: Reconciler[Any],
        *,
        client: Client,
        cache: Cache,
        events: EventRecorder,
        metrics: ControllerMetrics,
        clock: Clock,
        workers: int | None = None,
        backoff: Backoff | None = None,
        resync: float = 0.0,
        paused: bool = False,
        begun: Callable[[], None] = lambda: None,
        tracing: Tracing | None = None,
        shards: Shards | None = None,
    ) -> None:
        self._declaration = declaration_for(reconciler)
        self.name = self._declaration.name
        self.workers = workers or self._declaration.workers
        self.grace = GRACE
        self.queue: WorkQueue[Request] = WorkQueue(clock=clock, backoff=backoff, metrics=metrics)
        self._metrics = metrics
        self._clock = clock
        declared = self._declaration
        whole = [watch.kind for watch in declared.watches if watch.is_whole]
        self._informers = {gvk_of(kind): cache.informer(kind) for kind in (declared.resource, *declared.owns, *whole)}
        self._watched = [(_informer_of(cache, watch), watch) for watch in declared.watches]
        self._add_indexes()
        self._tenants = self._tenants_of(cache)
        self._live: set[Request] = set()
        primary = self._informers[declared.resource.gvk]
        self._children = children = Children(
            client, self._informers, field_manager=self.name, owns=declared.owns, again=self._look_again, clock=clock
        )
        self._primary, self._resync_after, self._begun = primary, resync, begun
        self._processor: Processor[Any] = Processor(
            reconciler,
            self._declaration,
            client=client,
            cache=cache.reader,
            primary=primary,
            children=children,
            events=events,
            clock=clock,
            threads=self.workers,
            paused=paused,
            tenants=self._tenants,
        )
        self._share = self._share_of(shards, client) if shards is not None else None
        self._news = self._share or self.queue
        self._told = self._handler_of_the_primary()
        process = self._processor.process if self._share is None else self._share.guarded(self._processor.process)
        self._process = process if tracing is None else tracing.traced(process, self._declaration)
        metrics.observe(self.queue, workers=self.workers, paused=paused, paused_objects=lambda: self._processor.paused)

    def _share_of(self, shards: Shards, client: Client) -> Share:
        from pyopscaffold.runtime.sharding import Share  # noqa: PLC0415 - most processes do without

        share = Share(
            shards,
            kind=self._declaration.resource.gvk,
            controller=self.name,
            client=client,
            primary=self._primary,
            queue=self.queue,
            take_up=self._take_up,
            forget=self._leave,
        )
        self._metrics.sharded(lambda: share.objects)
        return share

    def _add_indexes(self) -> None:
        informers = {*self._informers.values(), *(informer for informer, _ in self._watched)}
        for index in self._declaration.indexes:
            for informer in informers:
                if informer.kind == gvk_of(index.kind) and not informer.metadata_only:
                    index_of.add_to(informer, index)

    def _tenants_of(self, cache: Cache) -> Tenants | None:
        tenants, primary = self._declaration.tenants, self._informers[self._declaration.resource.gvk]
        if tenants is None:
            return None
        from pyopscaffold.runtime.tenants import Tenants  # noqa: PLC0415 - most operators have none

        return Tenants(tenants, cache, primary)

    async def run(self) -> None:
        """Work until cancelled; then let running reconciles end, for ``grace`` seconds at most."""
        self._listen()
        workers = [asyncio.create_task(self._work(), name=f"{self.name}-{index}") for index in range(self.workers)]
        if self._resync_after:
            workers.append(asyncio.create_task(self._resync(), name=f"{self.name}-resync"))
        if self._share is not None:
            workers.append(asyncio.create_task(self._share.run(), name=f"{self.name}-share"))
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)  # none of them should end
            for worker in done:
                worker.result()
        finally:  # wait, unlike gather, leaves the workers running when it is cancelled
            self.queue.shut_down()
            await asyncio.wait([asyncio.create_task(self.queue.drained())], timeout=self.grace)
            if self.queue.in_progress():
                _log.warning("stopping with reconciles unfinished", extra={"fields": {"controller": self.name}})
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            self._processor.close()

    async def look(self, request: Request) -> Verdict:
        """Look at one object now, past the queue; nothing is retried."""
        return await self._processor.process(request)

    def _handler_of_the_primary(self) -> Callable[[Delta], None]:
        declaration, kind = self._declaration, self._declaration.resource.gvk
        annotations = (paused_by(kind), skips_finalize(kind))
        finalizer = finalizer_name(kind, self.name)
        labels = (declaration.tenants.label,) if declaration.tenants and declaration.tenants.shared_from else ()
        counts = predicate.primary(
            finalizer,
            annotations=annotations,
            labels=labels,
            wanted=declaration.predicates,
            stamp=self._share.stamp if self._share is not None else "",
        )
        return handler(self._news, to_self, accepts=counts, failed=self._map_failed)

    def _take_up(self, stored: Stored) -> None:
        """Ask for an object behind what changed, as at the start of the process: predicates may leave it out."""
        self._told(Delta(None, stored, initial=True))

    def _listen(self) -> None:
        declaration, kind = self._declaration, self._declaration.resource.gvk
        self._primary.add_handler(self._told)
        self._primary.add_handler(self._forget)
        changed, failed = predicate.version_changed, self._map_failed
        for owned in map(gvk_of, declaration.owns):
            skips = partial(self._skips, owned)
            told = handler(self._news, to_owner(kind), accepts=changed, failed=failed, skips=skips)
            self._informers[owned].add_handler(told)
            self._informers[owned].add_handler(partial(self._forget_child, owned))
        for informer, watch in self._watched:
            accepts = predicate.all_of(changed, watch.predicate) if watch.predicate else changed
            both, queue = takes_both(watch.map), self._news
            informer.add_handler(handler(queue, by_map(watch), accepts=accepts, failed=failed, together=both))

        if self._tenants is not None:
            self._tenants.listen(lambda request: self._news.add(request, priority=INITIAL_PRIORITY))

    def _skips(self, kind: GroupVersionKind, delta: Delta, request: Request) -> bool:
        return self._children.expects(kind, delta.new, request.namespace, request.name)

    def _look_again(self, owner: Owner) -> None:
        self._news.add(Request(owner.namespace, owner.name))

    def _forget(self, delta: Delta) -> None:
        if delta.new is None and delta.old is not None:
            self._children.forget(delta.old.meta.uid)
            self._processor.forget(delta.old.meta.uid)

    def _leave(self, stored: Stored) -> None:
        """Drop what is remembered of an object that another replica looks at now, or did meanwhile."""
        self._children.forget(stored.meta.uid)
        self._processor.leave(Request(stored.meta.namespace, stored.meta.name), stored.meta.uid)

    def _forget_child(self, kind: GroupVersionKind, delta: Delta) -> None:
        if delta.new is None and delta.old is not None:
            self._children.forget_child(kind, delta.old)

    def _map_failed(self, error: Exception) -> None:
        self._metrics.failed(terminal=False, bug=True, timeout=False)
        _log.error("a map function or a predicate failed", exc_info=error, extra={"fields": {"controller": self.name}})

    async def _work(self) -> None:
        while (request := await self.queue.get()) is not None:
            started = self._clock.monotonic()
            live = request in self._live
            self._live.discard(request)
            self._metrics.active(1)
            self._begun()
            try:
                verdict = await self._look(request, live=live)
                self._settle(request, verdict)
            finally:
                self._metrics.active(-1)
                self.queue.done(request)
            self._metrics.reconciled(verdict.label, self._clock.monotonic() - started)

    async def _look(self, request: Request, *, live: bool) -> Verdict:
        try:
            return await self._process(request, live=live, failures=self.queue.failures(request))
        except Exception as error:  # noqa: BLE001 - a defect of ours must not cost the worker
            _log.exception("a look failed", extra={"fields": {"controller": self.name, "object": str(request)}})
            return Verdict(failure=classify(error, failures=0))

    async def _resync(self) -> None:
        """Ask for every object now and then, behind what changed; replicas and controllers not at the same moment."""
        while True:
            await self._clock.sleep(self._resync_after * random.uniform(0.9, 1.1))  # noqa: S311
            async for stored in in_turns(self._primary.list()):
                self._take_up(stored)

    def _settle(self, request: Request, verdict: Verdict) -> None:
        failure = verdict.failure
        if verdict.held:
            self.queue.hold(request)
            return
        if failure is None:
            self.queue.forget(request)
            if verdict.requeue_after is not None:
                self.queue.requeue(request, after=verdict.requeue_after)
            return
        self._failed(failure)
        if failure.live:
            self._live.add(request)
        if failure.retry == "never":
            self.queue.forget(request)
        elif failure.common:
            self.queue.hold(request, asked=failure.asked)
        else:
            longest = failure.retry == "longest"
            self.queue.retry(request, longest=longest, within=failure.within, answered=failure.answered)

    def _failed(self, failure: Failure) -> None:
        terminal, timeout = failure.retry == "never", failure.reason == "Timeout"
        self._metrics.failed(terminal=terminal, bug=failure.bug, timeout=timeout)
