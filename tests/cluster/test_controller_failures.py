"""What becomes of reconciles that fail, on a real API server."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result, conditions
from tests.cluster.widgets import Cluster, Widget, WidgetReconciler, config_map, operating, scrape, soon

if TYPE_CHECKING:
    import pytest

    from pyopscaffold.testing import ApiServer


async def test_terminal_error_stalls_until_a_change(api_server: ApiServer, cluster: Cluster) -> None:
    """TerminalError gives Stalled, Ready=False and an event, is not retried, and a good spec clears it all."""
    reconciler = WidgetReconciler()
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        cluster.apply("one", text="bad")
        await soon(lambda: cluster.state("one", "Stalled") == ("True", "BadText"))
        assert cluster.state("one", "Ready") == ("False", "BadText")
        assert cluster.state("one", "Validated") == ("False", "BadText")
        assert cluster.widget("one")["status"]["observedGeneration"] == 1
        event = (await soon(lambda: cluster.events("one")))[0]
        assert (event["type"], event["reason"], event["note"]) == ("Warning", "BadText", "spec.text is bad")
        assert event["reportingController"] == "runtime.example.com/widget"
        terminal = 'controller_runtime_terminal_reconcile_errors_total{controller="widget"}'
        await soon(lambda: scrape(manager)[terminal] == 1)  # counted a moment after the status was written
        assert scrape(manager)['workqueue_retries_total{controller="widget",name="widget"}'] == 0
        cluster.apply("one", text="good")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Applied"))
        assert cluster.condition("one", "Stalled") == {}
    assert reconciler.seen.count("one") <= 3


async def test_invalid_child_stalls_at_the_longest_backoff(api_server: ApiServer, cluster: Cluster) -> None:
    """A child that the server refuses as invalid gives Stalled and an event, and no hot loop."""

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Invalid(Reconciler[Widget]):
        calls = 0

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            type(self).calls += 1
            await ctx.apply({**config_map("child", ""), "data": {"no key!": obj.spec.text}})
            return Result()

    async with operating(Invalid(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Stalled") == ("True", "Invalid"))
        assert "no key!" in (await soon(lambda: cluster.events("one")))[0]["note"]
        cluster.apply("two")
        await soon(lambda: cluster.state("two", "Stalled") == ("True", "Invalid"))
        assert Invalid.calls == 2
        assert len(cluster.condition("one", "Stalled")["message"]) <= 120


async def test_status_that_the_server_refuses_is_an_event(api_server: ApiServer, cluster: Cluster) -> None:
    """A status that does not fit the CRD can't say so itself: an event does, and there is no hot loop."""

    @controller(Widget, timeout=5.0)
    class Overflowing(Reconciler[Widget]):
        calls = 0

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            type(self).calls += 1
            obj.status.calls = 2**63 if obj.metadata.name == "one" else 1
            return Result()

    async with operating(Overflowing(), api_server, cluster.namespace):
        cluster.apply("one")
        event = (await soon(lambda: cluster.events("one")))[0]
        assert (event["type"], event["reason"]) == ("Warning", "Invalid")
        cluster.apply("two")
        await soon(lambda: cluster.state("two", "Ready")[0] == "True")
        assert Overflowing.calls == 2


async def test_unexpected_error_is_retried(api_server: ApiServer, cluster: Cluster) -> None:
    """Any other exception gives Reconciling and Ready=False, is counted, and retried until it works."""

    @controller(Widget, timeout=5.0)
    class Flaky(Reconciler[Widget]):
        works = False

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            if not self.works:
                raise ZeroDivisionError("by nothing")
            return Result()

    reconciler = Flaky()
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Reconciling") == ("True", "ZeroDivisionError"))
        assert cluster.state("one", "Ready") == ("False", "ZeroDivisionError")
        await soon(lambda: scrape(manager)['controller_runtime_reconcile_panics_total{controller="widget"}'] >= 2)
        reconciler.works = True
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Reconciled"))
        assert cluster.condition("one", "Reconciling") == {}


async def test_timeout_cancels_and_retries(api_server: ApiServer, cluster: Cluster) -> None:
    """A reconcile that takes longer than its timeout is cancelled, reported, counted and retried."""
    cancelled: list[str] = []

    @controller(Widget, timeout=0.2)
    class Slow(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            if not cancelled:
                try:
                    await asyncio.Future()
                except asyncio.CancelledError:
                    cancelled.append(obj.metadata.name)
                    raise
            obj.status.calls = 1
            return Result()

    async with operating(Slow(), api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: cluster.widget("one")["status"].get("calls"))
        assert cancelled == ["one"]
        assert scrape(manager)['controller_runtime_reconcile_timeouts_total{controller="widget"}'] == 1


async def test_plain_function_runs_in_a_thread(api_server: ApiServer, cluster: Cluster) -> None:
    """A plain def reconciles in a thread of its own, and reaches the API by ctx.wait."""
    threads: list[threading.Thread] = []

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Plain(Reconciler[Widget]):
        def reconcile(self, ctx: Context, obj: Widget) -> Result:
            threads.append(threading.current_thread())
            child = ctx.wait(ctx.apply(config_map(obj.metadata.name, obj.spec.text)))
            ctx.event("Normal", "Applied", f"the text is {child['data']['text']}")
            conditions.set(obj, "Ready", "True", reason="Applied")
            return Result()

    async with operating(Plain(), api_server, cluster.namespace):
        cluster.apply("one", text="hi")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Applied"))
        assert (await soon(lambda: cluster.events("one")))[0]["note"] == "the text is hi"
    assert threading.main_thread() not in threads


async def test_plain_function_keeps_its_object_after_the_timeout(
    api_server: ApiServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """A thread can't be stopped: its object is not given to another worker before it returns."""
    proceed, running, most = threading.Event(), [], []

    @controller(Widget, timeout=0.1, workers=3)
    class Stuck(Reconciler[Widget]):
        def reconcile(self, ctx: Context, obj: Widget) -> Result:
            running.append(obj.metadata.name)
            most.append(len(running))
            proceed.wait(10)
            running.pop()
            obj.status.calls = 1
            return Result()

    async with operating(Stuck(), api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: running)
        cluster.apply("one", text="changed")
        await soon(lambda: scrape(manager)['workqueue_depth{controller="widget",name="widget",priority="0"}'] == 1)
        await soon(lambda: "a plain def can't be stopped" in caplog.text)
        proceed.set()
        await soon(lambda: cluster.widget("one")["status"].get("calls"))
        assert scrape(manager)['controller_runtime_reconcile_timeouts_total{controller="widget"}'] >= 1
    assert max(most) == 1


async def test_object_that_does_not_fit_its_class_stalls(api_server: ApiServer, cluster: Cluster) -> None:
    """An object that the dataclass can't hold is reported in its status, with the place, and others go on."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text={"not": "text"})
        cluster.apply("two")
        await soon(lambda: cluster.state("one", "Stalled") == ("True", "Undecodable"))
        assert "$.spec.text" in cluster.condition("one", "Stalled")["message"]
        await soon(lambda: cluster.state("two", "Ready")[0] == "True")
        cluster.apply("one", text="text")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Applied"))
        assert cluster.condition("one", "Stalled") == {}


async def test_conflict_is_retried_on_a_fresh_read(api_server: ApiServer, cluster: Cluster) -> None:
    """A conflict is no failure in the object's status: the next try reads past the cache and succeeds."""

    @controller(Widget, timeout=5.0)
    class Optimistic(Reconciler[Widget]):
        versions: list[str] = []  # noqa: RUF012 - the test reads it

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            self.versions.append(obj.metadata.resource_version)
            version = "1" if len(self.versions) == 1 else obj.metadata.resource_version
            patch: dict[str, Any] = {"metadata": {"resourceVersion": version, "labels": {"seen": "yes"}}}
            await ctx.client.patch(Widget, ctx.request.name, patch, namespace=ctx.request.namespace)
            return Result()

    async with operating(Optimistic(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.widget("one")["metadata"].get("labels"))
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Reconciled"))
        assert cluster.events("one") == []
    reads = [record for record in cluster.requests(api_server) if record.verb == "list"]
    named = [record.name for record in reads if record.resource == "widgets" and record.name]
    assert named == ["one"]


async def test_author_mistakes_are_reported(api_server: ApiServer, cluster: Cluster) -> None:
    """A wrong return value, and a CancelledError that escapes, are failures of that object; the workers live on."""

    @controller(Widget, timeout=5.0)
    class Mistaken(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Any:
            if obj.spec.text == "wrong type":
                return 5
            if obj.spec.text == "cancelled":
                task = asyncio.ensure_future(asyncio.sleep(10))
                task.cancel()
                await task
            return None

    async with operating(Mistaken(), api_server, cluster.namespace):
        cluster.apply("one", text="wrong type")
        cluster.apply("two", text="cancelled")
        await soon(lambda: "must return Result or None, not 5" in cluster.condition("one", "Ready").get("message", ""))
        await soon(lambda: "CancelledError" in cluster.condition("two", "Ready").get("message", ""))
        cluster.apply("three", text="fine")
        await soon(lambda: cluster.state("three", "Ready")[0] == "True")


async def test_repeated_event_becomes_a_series(api_server: ApiServer, cluster: Cluster) -> None:
    """The same event again is counted in the series of the first one."""

    @controller(Widget, timeout=5.0)
    class Chatty(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            ctx.event("Normal", "Looked", "looked at it")
            return Result()

    async with operating(Chatty(), api_server, cluster.namespace):
        cluster.apply("one", text="a")
        await soon(lambda: cluster.events("one"))
        cluster.apply("one", text="b")
        await soon(lambda: cluster.events("one")[0].get("series"))
        cluster.apply("one", text="c")
        await soon(lambda: cluster.widget("one")["status"]["observedGeneration"] == 3)
    events = cluster.events("one")
    assert [event["series"]["count"] for event in events] == [3]
