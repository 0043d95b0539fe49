"""The manager: everything of one operator process, started in order and stopped in reverse.

health and metrics → permissions checked → cache → lease → controllers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import uuid
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import (
    ConnectionFailed,
    Forbidden,
    KubeconfigError,
    NotFound,
    PyopscaffoldError,
    Unauthorized,
    UsageError,
    UserError,
)
from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.client.config import ClusterConfig, load
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.clock import SystemClock
from pyopscaffold.runtime.controller import Controller, declaration_for, kinds_of
from pyopscaffold.runtime.events import EventRecorder
from pyopscaffold.runtime.health import bind, check, serving
from pyopscaffold.runtime.leader import LeaderElector
from pyopscaffold.runtime.metrics import CONTENT_TYPE, Metrics
from pyopscaffold.runtime.options import Options
from pyopscaffold.runtime.side_thread import SideThread
from pyopscaffold.runtime.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyopscaffold.api.declarations import ControllerDeclaration
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.health import Endpoint
    from pyopscaffold.runtime.reconcile import Reconciler

DEAD_AFTER = 60.0
"""A loop blocked for so many seconds is not alive."""

EVENTS_GRACE = 5.0
_log = logging.getLogger("pyopscaffold.manager")


class LeadershipLostError(PyopscaffoldError):
    """Another replica leads now, or may soon: this process has to end."""


class Manager:
    """Runs controllers until it is cancelled; running reconciles then end in order.

    A reconciler is an instance, or a class that is made without arguments. ``config`` defaults to what
    ``options.kubeconfig`` and the surroundings say. ``abort`` ends the process at once: it is called when the lease is
    lost and the event loop does not stop in time. Tests give ``client`` and ``clock``; a given client is one for one
    event loop, so there is no leader election with it.
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
    ) -> None:
        self._reconcilers = [made() if isinstance(made, type) else made for made in reconcilers]
        self._declarations = [declaration_for(reconciler) for reconciler in self._reconcilers]
        _check_names(self._declarations)
        self._options = options or Options()
        self._config = config
        self._abort = abort
        if client is not None and self._options.leader_elect:
            raise UsageError("a manager with a given client can't elect a leader", hint="leave leader_elect off")
        self._client = client
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

    async def _run(self, stack: AsyncExitStack) -> None:
        config = self._config or (
            ClusterConfig(server="the given client") if self._client else load(self._options.kubeconfig)
        )
        metrics = Metrics()
        side = stack.enter_context(SideThread())
        watchdog = self._watchdog()
        await self._serve(stack, side, metrics, watchdog)
        client = self._client or self._connect(config, metrics)
        if client is not self._client:
            stack.push_async_callback(client.close)
        await self._check_access(client, config)
        side.spawn(watchdog.run())
        elector = self._elector(stack, side, config, metrics) if self._options.leader_elect else None
        self._cache = cache = Cache(client, clock=self._clock, namespace=self._options.namespaces or "")
        for reconciler, declaration in zip(self._reconcilers, self._declarations, strict=True):
            events = await self._events(stack, client, declaration)
            controller = Controller(
                reconciler,
                client=client,
                cache=cache,
                events=events,
                metrics=metrics.controller(declaration.name),
                clock=self._clock,
                workers=self._options.workers,
            )
            self._controllers.append(controller)
        async with asyncio.TaskGroup() as group:
            group.create_task(cache.run())
            await cache.wait_synced()
            _log.info("caches are synced")
            if elector is not None:
                await side.run(elector.acquire())
                metrics.leading(self._lease_name(), leading=True)
                holding = asyncio.create_task(side.run(self._hold_or_abort(elector)))
                stack.push_async_callback(_end, holding)
                group.create_task(self._give_up_with(holding, metrics))
            self.leading = True
            for controller in self._controllers:
                group.create_task(controller.run())

    def _connect(self, config: ClusterConfig, metrics: Metrics) -> Client:
        name = self._declarations[0].name if self._declarations else "operator"
        return HttpClient(config, user_agent=f"{name}/pyopscaffold", on_request=metrics.request)

    async def _serve(self, stack: AsyncExitStack, side: SideThread, metrics: Metrics, watchdog: Watchdog) -> None:
        def alive() -> str:
            blocked = watchdog.blocked()
            return f"the event loop is blocked for {blocked:.0f} s" if blocked > DEAD_AFTER else ""

        probes = {"/healthz": check(alive), "/readyz": check(self._not_ready)}
        scrape: Mapping[str, Endpoint] = {"/metrics": lambda: (200, CONTENT_TYPE, metrics.text())}
        wanted = (
            ("--health-probe-bind-address", self._options.health_probe_bind_address, probes),
            ("--metrics-bind-address", self._options.metrics_bind_address, scrape),
        )
        for flag, address, endpoints in wanted:
            listener = bind(address, flag=flag)
            if listener is None:
                continue
            stack.callback(listener.close)
            self.ports[flag] = listener.getsockname()[1]
            server = serving(listener, endpoints)
            await side.run(server.__aenter__())
            stack.push_async_callback(_stop_server, side, server)

    async def _check_access(self, client: Client, config: ClusterConfig) -> None:
        """Fail at once, with one line, where the cluster is not as it must be."""
        for declaration in self._declarations:
            for kind in kinds_of(declaration):
                for namespace in self._options.namespaces or ("",):
                    try:
                        await client.list_page(kind, namespace=namespace, limit=1)
                    except ConnectionFailed as error:
                        raise KubeconfigError(
                            str(error), hint="is it the right kubeconfig, and does the server run?"
                        ) from error
                    except NotFound as error:
                        message = f"{config.server} does not know {kind.group_resource} {kind.version}"
                        raise UserError(message, hint="install its CRD (make install)") from error
                    except (Forbidden, Unauthorized) as error:
                        raise UserError(
                            str(error), hint="apply the operator's roles (config/rbac), or use another kubeconfig"
                        ) from error

    async def _events(self, stack: AsyncExitStack, client: Client, declaration: ControllerDeclaration) -> EventRecorder:
        reporter = f"{declaration.resource.gvk.group}/{declaration.name}"
        events = EventRecorder(client, controller=reporter, instance=socket.gethostname(), clock=self._clock)
        sending = asyncio.create_task(events.run(), name=f"events-{declaration.name}")

        async def finish() -> None:
            events.close()
            await asyncio.wait([sending], timeout=EVENTS_GRACE)
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
        waiting = [informer for informer in self._cache.informers if not informer.synced]
        reasons = (f"{informer.kind.group_resource} ({informer.failure or 'listing'})" for informer in waiting)
        return f"waiting for {', '.join(reasons)}" if waiting else ""

    def _lease_name(self) -> str:
        if self._options.leader_election_id or not self._declarations:
            return self._options.leader_election_id or "operator"
        first = self._declarations[0]
        return f"{first.name}.{first.resource.gvk.group}"

    def _elector(
        self, stack: AsyncExitStack, side: SideThread, config: ClusterConfig, metrics: Metrics
    ) -> LeaderElector:
        """Make the candidate, with a client of its own; the lease is released after all else has stopped."""
        client = self._connect(config, metrics)
        elector = LeaderElector(
            client,
            namespace=self._options.leader_election_namespace or config.namespace,
            name=self._lease_name(),
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            clock=self._clock,
        )
        metrics.leading(self._lease_name(), leading=False)

        async def finish() -> None:
            self._stopped.set()
            await side.run(elector.release())
            await side.run(client.close())

        stack.push_async_callback(finish)
        return elector

    async def _give_up_with(self, holding: asyncio.Task[None], metrics: Metrics) -> None:
        """End the work when the lease is lost; the lease outlives a stop of the work, which may take a while."""
        await asyncio.shield(holding)
        metrics.leading(self._lease_name(), leading=False)
        self.leading = False
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


async def _stop_server(side: SideThread, server: AbstractAsyncContextManager[None]) -> None:
    await side.run(server.__aexit__(None, None, None))
