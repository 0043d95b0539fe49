"""Metrics by controller-runtime's names, so that its dashboards and alerts fit.

prometheus_client is imported where the registry is made: reading a controller does not need it.
"""

from __future__ import annotations

from itertools import accumulate, repeat
from operator import mul
from typing import TYPE_CHECKING, Protocol

from pyopscaffold.runtime.queue import QueueMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from pyopscaffold.runtime.queue import WorkQueue
    from pyopscaffold.runtime.reconcile import Request

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_RECONCILE_BUCKETS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5),
    *(1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
)
_QUEUE_BUCKETS = tuple(accumulate(repeat(10.0, 11), mul, initial=1e-8))
"""Rounded as Go's ExponentialBuckets does, step by step, for the bounds are texts to Prometheus."""


class ControllerMetrics(QueueMetrics, Protocol):
    """What a controller reports, beside what its queue does."""

    def observe(
        self, queue: WorkQueue[Request], *, workers: int, paused: bool, paused_objects: Callable[[], int]
    ) -> None:
        """Show the queue's state, the number of workers, and what is paused, from now on."""

    def sharded(self, objects: Callable[[], int]) -> None:
        """Show how many objects are this replica's, from now on."""

    def active(self, change: int) -> None:
        """Note that a worker took (1) or gave back (-1) an object."""

    def reconciled(self, result: str, seconds: float) -> None:
        """Note how a reconcile ended: success, error, requeue or requeue_after."""

    def failed(self, *, terminal: bool, bug: bool, timeout: bool) -> None:
        """Note that a reconcile raised; ``terminal``: not retried, ``bug``: nobody raised it on purpose."""


class Metrics:
    """The registry of one process and the metrics in it."""

    def __init__(self) -> None:
        import prometheus_client as prometheus  # noqa: PLC0415 - see the module's description

        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no annotation here
        self.registry: CollectorRegistry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self.registry)
        prometheus.GCCollector(registry=self.registry)
        prometheus.PlatformCollector(registry=self.registry)
        self._queues: dict[str, WorkQueue[Request]] = {}
        made = _Families(self.registry)
        self._families = made
        self.registry.register(_QueueCollector(self._queues))

    def request(self, method: str, code: str, host: str) -> None:
        """One exchange with the API server ended; of any thread."""
        self._families.requests.labels(code=code, method=method, host=host).inc()

    def leading(self, lease: str, *, leading: bool) -> None:
        """Whether this process holds the lease."""
        self._families.leading.labels(name=lease).set(int(leading))

    def sharding(self, replicas: Callable[[], int]) -> None:
        """Show how many replicas share the objects, from now on."""
        self._families.shard_replicas.set_function(replicas)

    def controller(self, name: str) -> ControllerMetrics:
        """Make the metrics of one controller."""
        return _Controller(name, self._families, self._queues)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format; may be called from any thread."""
        from prometheus_client import generate_latest  # noqa: PLC0415 - see the module's description

        return generate_latest(self.registry)


class _Families:
    """The metric families, made once for each registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram  # noqa: PLC0415 - see the module's description

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(name, text, labels, registry=registry)

        prefix, of_queue = "controller_runtime_", ("name", "controller")
        self.total = counter(f"{prefix}reconcile_total", "Reconciles by result", "controller", "result")
        self.errors = counter(f"{prefix}reconcile_errors_total", "Reconciles that failed", "controller")
        self.terminal = counter(
            f"{prefix}terminal_reconcile_errors_total", "Failures that are not retried", "controller"
        )
        self.panics = counter(f"{prefix}reconcile_panics_total", "Reconciles that raised unexpectedly", "controller")
        self.timeouts = counter(f"{prefix}reconcile_timeouts_total", "Reconciles that took too long", "controller")
        self.workers = gauge(f"{prefix}max_concurrent_reconciles", "Reconciles that may run at once", "controller")
        self.active = gauge(f"{prefix}active_workers", "Reconciles that run now", "controller")
        self.paused = gauge("pyopscaffold_paused", "1 where --paused keeps all reconciles back", "controller")
        self.paused_objects = gauge("pyopscaffold_paused_objects", "Objects that a pause leaves alone", "controller")
        self.seconds = Histogram(
            f"{prefix}reconcile_time_seconds",
            "Duration of a reconcile",
            ["controller"],
            buckets=_RECONCILE_BUCKETS,
            registry=registry,
        )
        self.adds = counter("workqueue_adds_total", "Additions to the queue", *of_queue)
        self.retries = counter("workqueue_retries_total", "Additions with a delay", *of_queue)
        self.waited = Histogram(
            "workqueue_queue_duration_seconds",
            "Time an item waits",
            of_queue,
            buckets=_QUEUE_BUCKETS,
            registry=registry,
        )
        self.worked = Histogram(
            "workqueue_work_duration_seconds",
            "Time an item is worked on",
            of_queue,
            buckets=_QUEUE_BUCKETS,
            registry=registry,
        )
        self.requests = counter("rest_client_requests_total", "Requests to the API server", "code", "method", "host")
        self.shard_replicas = gauge("pyopscaffold_shard_replicas", "Replicas that share the objects; 0 without")
        self.shard_objects = gauge("pyopscaffold_shard_objects", "Objects that are this replica's", "controller")
        self.leading = gauge("leader_election_master_status", "1 while this process leads", "name")


class _Controller:
    """ControllerMetrics over the families; the labelled children are looked up once."""

    def __init__(self, name: str, families: _Families, queues: dict[str, WorkQueue[Request]]) -> None:
        self._name = name
        self._queues = queues
        self._families = families
        results = ("success", "error", "requeue", "requeue_after")
        self._total = {result: families.total.labels(controller=name, result=result) for result in results}
        self._errors = families.errors.labels(controller=name)
        self._terminal = families.terminal.labels(controller=name)
        self._panics = families.panics.labels(controller=name)
        self._timeouts = families.timeouts.labels(controller=name)
        self._workers = families.workers.labels(controller=name)
        self._paused = families.paused.labels(controller=name)
        self._paused_objects = families.paused_objects.labels(controller=name)
        self._active = families.active.labels(controller=name)
        self._seconds = families.seconds.labels(controller=name)
        of_queue = {"name": name, "controller": name}
        self._adds = families.adds.labels(**of_queue)
        self._retries = families.retries.labels(**of_queue)
        self._waited = families.waited.labels(**of_queue)
        self._worked = families.worked.labels(**of_queue)

    def observe(
        self, queue: WorkQueue[Request], *, workers: int, paused: bool, paused_objects: Callable[[], int]
    ) -> None:
        self._queues[self._name] = queue
        self._workers.set(workers)
        self._paused.set(int(paused))
        self._paused_objects.set_function(paused_objects)

    def sharded(self, objects: Callable[[], int]) -> None:
        self._families.shard_objects.labels(controller=self._name).set_function(objects)

    def active(self, change: int) -> None:
        self._active.inc(change)

    def reconciled(self, result: str, seconds: float) -> None:
        self._total[result].inc()
        self._seconds.observe(seconds)

    def failed(self, *, terminal: bool, bug: bool, timeout: bool) -> None:
        self._errors.inc()
        self._terminal.inc(int(terminal))
        self._panics.inc(int(bug))
        self._timeouts.inc(int(timeout))

    def added(self) -> None:
        self._adds.inc()

    def waited(self, seconds: float) -> None:
        self._waited.observe(seconds)

    def worked(self, seconds: float) -> None:
        self._worked.observe(seconds)

    def retried(self) -> None:
        self._retries.inc()


class _QueueCollector:
    """What is asked of the queues when somebody scrapes."""

    def __init__(self, queues: dict[str, WorkQueue[Request]]) -> None:
        self._queues = queues

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415 - see the module's description

        labels = ("name", "controller")
        depth = GaugeMetricFamily("workqueue_depth", "Items that wait", labels=(*labels, "priority"))
        unfinished = GaugeMetricFamily("workqueue_unfinished_work_seconds", "Work not yet observed", labels=labels)
        longest = GaugeMetricFamily("workqueue_longest_running_processor_seconds", "The longest work", labels=labels)
        for name, queue in list(self._queues.items()):
            for priority, count in (queue.depth() or {0: 0}).items():
                depth.add_metric([name, name, str(priority)], count)
            running = queue.in_progress()
            unfinished.add_metric([name, name], sum(running))
            longest.add_metric([name, name], max(running, default=0.0))
        return iter((depth, unfinished, longest))
