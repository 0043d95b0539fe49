"""The manager: everything of one operator process, started in order and stopped in reverse.

health and metrics → permissions checked → cache → runnables → lease → the leader's runnables → controllers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import uuid
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from pyopscaffold import codec
from pyopscaffold.errors import PyopscaffoldError, UsageError
from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.client.config import ClusterConfig, load
from pyopscaffold.runtime.client.http import HttpClient, HttpTransport, user_agent
from pyopscaffold.runtime.clock import SystemClock, WakefulClock
from pyopscaffold.runtime.controller import Controller, declaration_for
from pyopscaffold.runtime.endpoints import Endpoints
from pyopscaffold.runtime.events import EventRecorder
from pyopscaffold.runtime.leader import LeaderElector, LeaseTimes
from pyopscaffold.runtime.metrics import Metrics
from pyopscaffold.runtime.options import Options
from pyopscaffold.runtime.preflight import check_access, check_namespaces, check_shards, check_tenants
from pyopscaffold.runtime.runnable import Runnable, Stages
from pyopscaffold.runtime.side_thread import SideThread
from pyopscaffold.runtime.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from pyopscaffold.api.declarations import ControllerDeclaration, Kind
    from pyopscaffold.runtime.cache import Transform
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.health import Check
    from pyopscaffold.runtime.membership import Membership
    from pyopscaffold.runtime.reconcile import Reconciler
    from pyopscaffold.runtime.sharding import Shards
    from pyopscaffold.runtime.tracing import Tracing

DEAD_AFTER = 60.0
"""A loop blocked for so many seconds is not alive."""

DRAIN = 0.8
"""The share of the time to end in that reconciles and runnables have; the rest is for events and the lease."""

_SHARD_ID_MAX = 63
"""The longest value of a label."""
_log = logging.getLogger("pyopscaffold.manager")


class LeadershipLostError(PyopscaffoldError):
    """Another replica leads now, or may soon: this process has to end."""


class Manager:
    """Runs controllers until it is cancelled; running reconciles then end in order.

    A reconciler is an instance, or a class that is made without arguments. ``config`` defaults to what
    ``options.kubeconfig`` and the surroundings say. ``abort`` ends the process at once: it is called when the lease is
    lost and the event loop does not stop in time. Tests give ``client`` and ``clock``; a given client is one for one
    event loop, so there is no leader election with it. ``ready_checks`` are asked beside the cache's, by name;
    ``transforms`` cut objects of a kind down to what the cache is to keep.
    """

    def __init__(
        self,
        reconcilers: Sequence[Reconciler[Any] | type[Reconciler[Any]]],
        *,
        options: Options | None = None,
        config: ClusterConfig | None = None,
        abort: Callable[[int], Any] = os._exit,
        client: Client | None = None,
        clock: Clock | None = None,
        runnables: Sequence[Runnable] = (),
        ready_checks: Mapping[str, Check] | None = None,
        transforms: Mapping[Kind, Transform] | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._reconcilers = [made() if isinstance(made, type) else made for made in reconcilers]
        self._declarations = [declaration_for(reconciler) for reconciler in self._reconcilers]
        _check_names(self._declarations)
        self._options = options or Options()
        self._config = config
        self._abort = abort
        _check_options(self._options, controllers=len(self._declarations), client_given=client is not None)
        self._client = client
        self._side_client: Client | None = None
        self._runnables = tuple(runnables)
        self._shards = _shards() if self._options.shard else None
        self._ready_checks = {"cache": self._not_ready, **(ready_checks or {})}
        self._transforms = transforms
        self._tracing = tracing
        self._ends_at: float | None = None
        self._namespace = ""
        self.metrics = Metrics()
        self._clock: Clock = clock or SystemClock()
        self._controllers: list[Controller] = []
        self._stopped = threading.Event()
        self._cache: Cache | None = None
        self.ports: dict[str, int] = {}
        self.leading = False

    async def run(self) -> None:
        """Run until cancelled.

        Raises:
            UserError: a port, the cluster or a permission is not as it must be.
            LeadershipLostError: the lease was lost.

        """
        try:
            async with AsyncExitStack() as stack:
                await self._run(stack)
        except BaseExceptionGroup as group:
            for error in group.exceptions[1:]:
                _log.error("and: %s", error)
            raise group.exceptions[0] from group
        finally:
            self._stopped.set()

    @property
    def ready(self) -> bool:
        """Whether the caches are filled; replicas that don't lead are ready too."""
        return not self._not_ready()

    @property
    def idle(self) -> bool:
        """Whether no object is being reconciled, or waits to be now."""
        return not any(controller.queue.in_progress() or controller.queue.depth() for controller in self._controllers)

    @property
    def cache(self) -> Cache:
        """The cache; raises PyopscaffoldError before ``run`` has made it."""
        if self._cache is None:
            raise PyopscaffoldError("the manager has not begun to run")
        return self._cache

    @property
    def client(self) -> Client:
        """The client; raises PyopscaffoldError before ``run`` has made it."""
        if self._client is None:
            raise PyopscaffoldError("the manager has not begun to run")
        return self._client

    async def _run(self, stack: AsyncExitStack) -> None:
        config = self._config or (
            ClusterConfig(server="the given client") if self._client else load(self._options.kubeconfig)
        )
        self._namespace = config.namespace
        side = stack.enter_context(SideThread())
        if self._options.leader_elect or self._options.metrics_secure or self._options.shard:
            self._side_client = self._connect(config)
            stack.push_async_callback(_on_side, side, self._side_client.close)
        watchdog = self._watchdog()
        await self._serve(Endpoints(self._options, side, stack), watchdog)
        if self._client is None:
            self._client = self._connect(config, fenced=self._options.shard)
            stack.push_async_callback(self._client.close)
        client = self._client
        await self._check_access(client, config.server)
        for declaration in self._declarations:
            codec.prepare(*_read_by(declaration))  # before the watchdog, which would blame the first reconcile for it
        side.spawn(watchdog.run())
        elector = self._elector(stack, side, config) if self._options.leader_elect else None
        self._cache = Cache(
            client,
            clock=self._clock,
            namespace=self._options.namespaces or "",
            namespace_labels=self._options.namespace_selector,
            transforms=self._transforms,
        )
        self._fence(client)
        for reconciler, declaration in zip(self._reconcilers, self._declarations, strict=True):
            events = await self._events(stack, client, declaration)
            self._controllers.append(self._controller(reconciler, declaration, events, watchdog))
        async with Stages() as stages:
            try:
                await self._start(stages, stack, side, elector)
                await stages.during(asyncio.get_running_loop().create_future())
            finally:
                self._begin_to_end(stages)

    async def _check_access(self, client: Client, server: str) -> None:
        if self._options.namespace_selector:
            await check_namespaces(client, self._options.namespace_selector, server=server)
            namespaces: tuple[str, ...] = ()  # whether it may read in a namespace is each one's matter, now and later
        else:
            namespaces = tuple(self._options.namespaces) or ("",)
        await check_access(client, self._declarations, server=server, namespaces=namespaces)
        await check_tenants(client, self._declarations, server=server, namespaces=namespaces)
        if self._options.shard:
            await check_shards(client, self._options.shard_namespace or self._namespace, server=server)

    async def _start(
        self, stages: Stages, stack: AsyncExitStack, side: SideThread, elector: LeaderElector | None
    ) -> None:
        stages.start({"cache": self.cache.run()})
        await stages.during(self.cache.wait_synced())
        _log.info("caches are synced")
        self._start_runnables(stages, leader=False)
        if elector is not None:
            await stages.during(side.run(elector.acquire()))
            self.metrics.leading(self._lease_name(), leading=True)
            holding = asyncio.create_task(side.run(self._hold_or_abort(elector)))
            stack.push_async_callback(_end, holding)
            stages.start({"lease": self._give_up_with(holding)})
        self.leading = True
        if self._shards is not None:
            member = self._member(stack, side, self._shards)
            stages.start({"shard": side.run(member.run())})
        self._start_runnables(stages, leader=True)
        if self._options.paused:
            _log.warning("paused: nothing is reconciled")
        stages.start({controller.name: controller.run() for controller in self._controllers})

    def _start_runnables(self, stages: Stages, *, leader: bool) -> None:
        """Start each as a stage of its own, so that they end one after the other."""
        for runnable in self._runnables:
            if runnable.leader == leader:
                stages.start({str(runnable): _running(runnable, self)})

    def _begin_to_end(self, stages: Stages) -> None:
        """Count down from now on: all that ends has to have ended in ``grace`` seconds."""
        if self._ends_at is None:
            self._ends_at = self._clock.monotonic() + self._options.grace
            stages.grace = self._options.grace * DRAIN
            for controller in self._controllers:
                controller.grace = stages.grace

    def _left(self) -> float:
        """How many seconds there are yet to end in."""
        return self._options.grace if self._ends_at is None else max(0.0, self._ends_at - self._clock.monotonic())

    def _connect(self, config: ClusterConfig, *, fenced: bool = False) -> Client:
        name = self._declarations[0].name if self._declarations else "operator"
        traced = self._tracing.of_requests() if self._tracing else ()
        agent, told, clock = user_agent(name), self.metrics.request, self._clock
        if not fenced:
            return HttpClient(config, user_agent=agent, on_request=told, clock=clock, trace_configs=traced)
        from pyopscaffold.runtime.fencing import FencedClient  # noqa: PLC0415 - most processes do without

        transport = HttpTransport(config, user_agent=agent, on_request=told, clock=clock, trace_configs=traced)
        return FencedClient(transport, clock=clock)

    def _fence(self, client: Client) -> None:
        if self._shards is not None:
            from pyopscaffold.runtime.fencing import FencedClient  # noqa: PLC0415 - most processes do without

            assert isinstance(client, FencedClient)  # noqa: S101 - made for it in _run
            client.fence_by(self.cache)

    def _controller(
        self,
        reconciler: Reconciler[Any],
        declaration: ControllerDeclaration,
        events: EventRecorder,
        watchdog: Watchdog,
    ) -> Controller:
        return Controller(
            reconciler,
            client=self.client,
            cache=self.cache,
            events=events,
            metrics=self.metrics.controller(declaration.name),
            clock=self._clock,
            workers=self._options.workers,
            resync=self._options.resync,
            paused=self._options.paused,
            begun=watchdog.begun,
            tracing=self._tracing,
            shards=self._shards,
        )

    async def _serve(self, endpoints: Endpoints, watchdog: Watchdog) -> None:
        def loop() -> str:
            blocked = watchdog.blocked()
            return f"the event loop is blocked for {blocked:.0f} s" if blocked > DEAD_AFTER else ""

        self.ports = endpoints.ports
        await endpoints.serve_health({"loop": loop}, self._ready_checks)
        await endpoints.serve_metrics(self.metrics, reviewer=self._side_client, clock=self._clock)

    async def _events(self, stack: AsyncExitStack, client: Client, declaration: ControllerDeclaration) -> EventRecorder:
        reporter = f"{declaration.resource.gvk.group}/{declaration.name}"
        events = EventRecorder(client, controller=reporter, instance=socket.gethostname(), clock=self._clock)
        sending = asyncio.create_task(events.run(), name=f"events-{declaration.name}")

        async def finish() -> None:
            events.close()
            await asyncio.wait([sending], timeout=self._left() / 2)
            sending.cancel()

        stack.push_async_callback(finish)
        return events

    def _watchdog(self) -> Watchdog:
        def busy() -> bool:
            return any(controller.queue.in_progress() for controller in self._controllers)

        return Watchdog(asyncio.get_running_loop(), thread=threading.get_ident(), busy=busy)

    def _not_ready(self) -> str:
        """Say what is waited for; of any thread."""
        if self._cache is None:
            return "starting"
        if self._shards is not None and not self._shards.replicas and self.leading:
            return "waiting for a share of the objects"
        waiting = [informer for informer in self._cache.informers if not informer.synced]
        reasons = (f"{informer.kind.group_resource} ({informer.failure or 'listing'})" for informer in waiting)
        return f"waiting for {', '.join(reasons)}" if waiting else ""

    def _lease_name(self) -> str:
        if self._options.leader_election_id or not self._declarations:
            return self._options.leader_election_id or "operator"
        first = self._declarations[0]
        return f"{first.name}.{first.resource.gvk.group}"

    def _member(self, stack: AsyncExitStack, side: SideThread, shards: Shards) -> Membership:
        """Make this replica's place among those that share; it is given up after all else has stopped."""
        from pyopscaffold.runtime.membership import Membership, ShardTimes  # noqa: PLC0415 - most processes do without

        assert self._side_client is not None  # noqa: S101 - made for it in _run
        loop, first = asyncio.get_running_loop(), self._declarations[0].resource.gvk
        member = Membership(
            self._side_client,
            namespace=self._options.shard_namespace or self._namespace,
            name=self._options.shard_id or self._lease_name()[:_SHARD_ID_MAX].rstrip(".-"),
            group=first.group,
            identity=socket.gethostname(),
            clock=WakefulClock() if isinstance(self._clock, SystemClock) else self._clock,
            told=lambda sighting: loop.call_soon_threadsafe(shards.told, sighting),
            times=ShardTimes(duration=self._options.shard_lease_duration),
        )
        shards.attach(member)
        self.metrics.sharding(lambda: shards.replicas)
        stack.push_async_callback(lambda: side.run(member.leave(within=self._left())))
        return member

    def _elector(self, stack: AsyncExitStack, side: SideThread, config: ClusterConfig) -> LeaderElector:
        """Make the candidate, with a client of its own; the lease is released after all else has stopped."""
        assert self._side_client is not None  # noqa: S101 - made for it in _run
        elector = LeaderElector(
            self._side_client,
            namespace=self._options.leader_election_namespace or config.namespace,
            name=self._lease_name(),
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            clock=self._clock,
            times=LeaseTimes.of(self._options.leader_election_lease_duration),
        )
        self.metrics.leading(self._lease_name(), leading=False)

        async def finish() -> None:
            self._stopped.set()
            await side.run(elector.release(within=self._left()))

        stack.push_async_callback(finish)
        return elector

    async def _give_up_with(self, holding: asyncio.Task[None]) -> None:
        """End the work when the lease is lost; the lease outlives a stop of the work, which may take a while."""
        await asyncio.shield(holding)
        self.metrics.leading(self._lease_name(), leading=False)
        self.leading = False
        self._ends_at = self._clock.monotonic()
        for controller in self._controllers:
            controller.grace = 0.0
        raise LeadershipLostError("lost the lease; another replica takes over")

    async def _hold_or_abort(self, elector: LeaderElector) -> None:
        """On the side thread: when the lease is lost and the work does not stop before others may begin, end it."""
        await elector.hold()
        left = elector.times.duration - elector.times.deadline

        async def enforce() -> None:
            await self._clock.sleep(left)
            if not self._stopped.is_set():
                _log.critical("the work does not stop, ending the process")
                self._abort(1)

        self._enforcer = asyncio.create_task(enforce())


def _shards() -> Shards:
    from pyopscaffold.runtime.sharding import Shards  # noqa: PLC0415 - most processes do without

    return Shards()


def _read_by(declaration: ControllerDeclaration) -> list[type]:
    """Give the classes whose objects a controller reads."""
    watched = [watch.kind for watch in declaration.watches if not watch.metadata_only]
    return [kind for kind in (declaration.resource, *declaration.owns, *watched) if isinstance(kind, type)]


def _check_options(options: Options, *, controllers: int, client_given: bool) -> None:
    if options.shard and options.leader_elect:
        raise UsageError(
            "--shard and --leader-elect: give one of them",
            hint="with --shard all replicas act, each on its share; with --leader-elect one of them does",
        )
    if options.shard and not controllers:
        raise UsageError("--shard: there is no controller whose objects could be shared", hint="leave --shard off")
    if client_given and (options.leader_elect or options.metrics_secure or options.shard):
        raise UsageError(
            "a manager with a given client can't elect a leader or share objects, and not ask who reads its metrics",
            hint="leave leader_elect, shard and metrics_secure off",
        )


def _check_names(declarations: Sequence[ControllerDeclaration]) -> None:
    names = [declaration.name for declaration in declarations]
    for name in sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"two controllers are called {name!r}",
            hint="give one of them another @controller(…, name=…): fields are owned by it",
        )


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _running(runnable: Runnable, manager: Manager) -> None:
    await runnable.run(manager)


async def _on_side(side: SideThread, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await side.run(function())
