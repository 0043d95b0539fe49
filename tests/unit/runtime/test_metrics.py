"""Metrics by controller-runtime's names, labels and bounds, which dashboards and alerts are written against."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from contextlib import suppress
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pyopscaffold.runtime import logs
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.http_requests import HttpRequests
from pyopscaffold.runtime.metrics import Metrics
from pyopscaffold.runtime.queue import WorkQueue
from pyopscaffold.runtime.reconcile import Request

# As controller-runtime v0.25.2 has them, in pkg/internal/controller/metrics, pkg/internal/metrics and pkg/metrics; the
# queue's bounds as Go's ExponentialBuckets(10e-9, 10, 12) rounds them.
OF_CONTROLLER = {"controller"}
OF_QUEUE = {"name", "controller"}
EXPECTED = {
    "controller_runtime_reconcile_total": ("counter", {"controller", "result"}),
    "controller_runtime_reconcile_errors_total": ("counter", OF_CONTROLLER),
    "controller_runtime_terminal_reconcile_errors_total": ("counter", OF_CONTROLLER),
    "controller_runtime_reconcile_panics_total": ("counter", OF_CONTROLLER),
    "controller_runtime_reconcile_timeouts_total": ("counter", OF_CONTROLLER),
    "controller_runtime_reconcile_time_seconds": ("histogram", OF_CONTROLLER),
    "controller_runtime_max_concurrent_reconciles": ("gauge", OF_CONTROLLER),
    "controller_runtime_active_workers": ("gauge", OF_CONTROLLER),
    "workqueue_depth": ("gauge", OF_QUEUE | {"priority"}),
    "workqueue_adds_total": ("counter", OF_QUEUE),
    "workqueue_retries_total": ("counter", OF_QUEUE),
    "workqueue_queue_duration_seconds": ("histogram", OF_QUEUE),
    "workqueue_work_duration_seconds": ("histogram", OF_QUEUE),
    "workqueue_unfinished_work_seconds": ("gauge", OF_QUEUE),
    "workqueue_longest_running_processor_seconds": ("gauge", OF_QUEUE),
    "rest_client_requests_total": ("counter", {"code", "method", "host"}),
    "leader_election_master_status": ("gauge", {"name"}),
    "process_cpu_seconds_total": ("counter", set()),
    "process_resident_memory_bytes": ("gauge", set()),
    "process_start_time_seconds": ("gauge", set()),
    "process_open_fds": ("gauge", set()),
}
RECONCILE_BOUNDS = [
    *(
        "0.005",
        "0.01",
        "0.025",
        "0.05",
        "0.1",
        "0.15",
        "0.2",
        "0.25",
        "0.3",
        "0.35",
        "0.4",
        "0.45",
        "0.5",
        "0.6",
        "0.7",
    ),
    *("0.8", "0.9", "1.0", "1.25", "1.5", "1.75", "2.0", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0", "6.0", "7.0", "8.0"),
    *("9.0", "10.0", "15.0", "20.0", "25.0", "30.0", "40.0", "50.0", "60.0", "+Inf"),
]
QUEUE_BOUNDS = [
    *("1e-08", "1e-07", "1e-06", "9.999999999999999e-06", "9.999999999999999e-05", "0.001", "0.01", "0.1"),
    *("1.0", "10.0", "100.0", "1000.0", "+Inf"),
]


def exposed() -> tuple[str, dict[str, Any]]:
    """Give the text of a process that has done one of everything, and its families by name."""
    metrics = Metrics()
    of_controller = metrics.controller("widget")
    queue: WorkQueue[Request] = WorkQueue(clock=ManualClock(), metrics=of_controller)
    of_controller.observe(queue, workers=2, paused=True, paused_objects=lambda: 3)
    of_controller.reconciled("success", 0.2)
    metrics.request("GET", "200", "host:443")
    metrics.leading("lease", leading=True)
    queue.add(Request("ns", "one"))
    text = metrics.text().decode()
    families = {}
    for family in text_string_to_metric_families(text):
        families[family.name + ("_total" if family.type == "counter" else "")] = family
    return text, families


def test_names_types_and_labels() -> None:
    """Every family of controller-runtime is there under its name, with its type and labels."""
    _, families = exposed()
    found = {
        name: (families[name].type, {label for sample in families[name].samples for label in sample.labels} - {"le"})
        for name in EXPECTED
    }
    assert found == EXPECTED


def test_results_are_there_before_they_happen() -> None:
    """All results, and the counters of failures, start at 0: a rate needs a first value."""
    text, _ = exposed()
    for result in ("error", "requeue", "requeue_after"):
        assert f'controller_runtime_reconcile_total{{controller="widget",result="{result}"}} 0.0' in text
    assert 'controller_runtime_reconcile_panics_total{controller="widget"} 0.0' in text


async def test_every_delayed_addition_is_a_retry() -> None:
    """As in controller-runtime's queue: a backoff counts, that of the server too, and a requeue that was asked for."""
    metrics, clock = Metrics(), ManualClock()
    queue, request = queue_of(metrics, clock), Request("ns", "one")
    queue.add(request)
    await queue.get()
    queue.retry(request)
    queue.done(request)
    clock.advance(1)
    await queue.get()
    queue.hold(request)
    queue.done(request)
    clock.advance(1)
    await queue.get()
    queue.requeue(request, after=60)
    queue.done(request)
    queue.shut_down()
    assert counted(metrics, "workqueue_retries_total") == 3
    assert counted(metrics, "workqueue_adds_total") == 3


async def test_a_failure_of_the_server_is_a_retry_though_it_need_not_wait() -> None:
    """Whatever is added with a delay counts, as in controller-runtime's queue, even if it is pending already."""
    metrics = Metrics()
    queue, request = queue_of(metrics, ManualClock()), Request("ns", "one")
    queue.add(request)
    await queue.get()
    queue.add(request)
    queue.hold(request)
    queue.done(request)
    assert counted(metrics, "workqueue_retries_total") == 1


def queue_of(metrics: Metrics, clock: ManualClock) -> WorkQueue[Request]:
    """Give a queue that reports as that of the controller "widget"."""
    return WorkQueue(clock=clock, metrics=metrics.controller("widget"))


def counted(metrics: Metrics, name: str) -> float | None:
    """Read a counter of that queue."""
    return metrics.registry.get_sample_value(name, {"name": "widget", "controller": "widget"})


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("controller_runtime_reconcile_time_seconds", RECONCILE_BOUNDS),
        ("workqueue_queue_duration_seconds", QUEUE_BOUNDS),
        ("workqueue_work_duration_seconds", QUEUE_BOUNDS),
    ],
)
def test_bounds_of_histograms(name: str, bounds: list[str]) -> None:
    """The bounds are Go's to the last digit: Prometheus compares them as texts."""
    text, _ = exposed()
    lines = [line for line in text.splitlines() if line.startswith(f"{name}_bucket")]
    assert [line.partition('le="')[2].partition('"')[0] for line in lines] == bounds


def test_a_pause_of_all_is_shown() -> None:
    """Who forgot --paused sees it in the metrics."""
    assert 'pyopscaffold_paused{controller="widget"} 1.0' in exposed()[0]
    assert 'pyopscaffold_paused_objects{controller="widget"} 3.0' in exposed()[0]


class HttpError(Exception):
    """An error that knows its status, as those of web frameworks do."""

    status = 404


@pytest.mark.parametrize(
    ("error", "status"), [(None, 201), (HttpError(), 404), (ValueError("no"), 500), (asyncio.CancelledError(), 499)]
)
def test_requests_of_ones_own_server(error: BaseException | None, status: int) -> None:
    """A request is in the histogram by method, route and status, and its line's latency_ms is what was observed."""
    metrics, stream = Metrics(), io.StringIO()
    log = logging.getLogger("served")
    log.setLevel("INFO")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    log.addHandler(handler)
    requests = HttpRequests(metrics.registry, log=log)
    with suppress(HttpError, ValueError, asyncio.CancelledError), requests.observe("POST", "/orders/{id}") as observed:
        if error is not None:
            raise error
        observed.status = 201
    labels = {"method": "POST", "path": "/orders/{id}", "status": str(status)}
    seconds = metrics.registry.get_sample_value("http_request_duration_seconds_sum", labels)
    assert seconds is not None
    assert metrics.registry.get_sample_value("http_request_duration_seconds_count", labels) == 1
    line = json.loads(stream.getvalue())
    assert (line["msg"], line["method"], line["path"], line["status"]) == ("request", "POST", "/orders/{id}", status)
    assert line["latency_ms"] == pytest.approx(seconds * 1000, rel=1e-12)
    assert line["latency_ms"] > 0
    log.handlers.clear()
