"""Finalizers against a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.api import controller
from pyopscaffold.errors import Conflict, NotFound, TerminalError
from pyopscaffold.runtime import Context, Reconciler, Result, finalizer
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpClient
from tests.cluster.widgets import GROUP, Cluster, Widget, WidgetReconciler, operating, scrape, soon

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

FINALIZER = f"{GROUP}/widget-finalizer"


@controller(Widget, timeout=5.0)
class Cleaning(Reconciler[Widget]):
    """Notes what it sees; lets go of an object only when told."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.finalized: list[str] = []
        self.busy = True
        self.held = 0

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Note the finalizers that the object has."""
        self.seen.append(list(obj.metadata.finalizers))
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> Result | None:
        """Take as long as ``busy`` says; the text "bad" can't be cleaned up."""
        if obj.spec.text == "bad":
            raise TerminalError("can't be cleaned up", reason="Uncleanable")
        if self.busy:
            self.held += 1
            return Result(requeue_after=0.05)
        self.finalized.append(obj.metadata.name)
        return None


async def test_finalizer_is_there_before_the_first_reconcile(api_server: ApiServer, cluster: Cluster) -> None:
    """The finalizer is added beside others, before the reconciler can have side effects."""
    reconciler = Cleaning()
    async with operating(reconciler, api_server, cluster.namespace):
        cluster.apply("one", finalizers=["example.org/other"])
        cluster.apply("two")
        await soon(lambda: len(reconciler.seen) >= 2)
        assert cluster.widget("one")["metadata"]["finalizers"] == ["example.org/other", FINALIZER]
        assert cluster.widget("two")["metadata"]["finalizers"] == [FINALIZER]
    assert all(FINALIZER in finalizers for finalizers in reconciler.seen)
    cluster.drop_finalizers("one", "two")


async def test_deletion_waits_for_finalize(api_server: ApiServer, cluster: Cluster) -> None:
    """The object stays until finalize is done, and then goes; another writer's finalizer is kept."""
    reconciler = Cleaning()
    async with operating(reconciler, api_server, cluster.namespace):
        cluster.apply("one", finalizers=["example.org/other"])
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: cluster.widget("one")["metadata"].get("deletionTimestamp"))
        assert FINALIZER in cluster.widget("one")["metadata"]["finalizers"]
        await soon(lambda: reconciler.held > 2)
        reconciler.busy = False
        await soon(lambda: cluster.widget("one")["metadata"]["finalizers"] == ["example.org/other"])
        cluster.drop_finalizers("one")
        await soon(lambda: not cluster.exists(cluster.widget_path("one")))
    assert reconciler.finalized == ["one"]


async def test_finalizer_taken_away_by_hand_comes_back(api_server: ApiServer, cluster: Cluster) -> None:
    """Somebody removes the finalizer from an object that lives: it is added again."""
    async with operating(Cleaning(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.drop_finalizers("one")
        await soon(lambda: cluster.widget("one")["metadata"].get("finalizers") == [FINALIZER])
    cluster.drop_finalizers("one")


async def test_failing_finalize_is_reported(api_server: ApiServer, cluster: Cluster) -> None:
    """What keeps an object from going is said in its status and in an event."""
    async with operating(Cleaning(), api_server, cluster.namespace):
        cluster.apply("one", text="bad")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: cluster.state("one", "Stalled") == ("True", "Uncleanable"))
        assert (await soon(lambda: cluster.events("one")))[0]["reason"] == "Uncleanable"
    cluster.drop_finalizers("one")


async def test_races_for_finalizers_lose_nothing(api_server: ApiServer, cluster: Cluster) -> None:
    """A change that builds on finalizers which somebody has changed meanwhile is a Conflict, and undoes nothing."""
    client = HttpClient(load(api_server.kubeconfig()))
    try:
        cluster.apply("one")
        seen = (await client.get(Widget, "one", namespace=cluster.namespace)).metadata
        cluster.client.merge(cluster.widget_path("one"), {"metadata": {"finalizers": ["example.org/other"]}})
        with pytest.raises(Conflict, match="one changed meanwhile"):
            await finalizer.add(client, Widget.gvk, seen, FINALIZER)
        seen = (await client.get(Widget, "one", namespace=cluster.namespace)).metadata
        await finalizer.add(client, Widget.gvk, seen, FINALIZER)
        assert cluster.widget("one")["metadata"]["finalizers"] == ["example.org/other", FINALIZER]
        seen = (await client.get(Widget, "one", namespace=cluster.namespace)).metadata
        cluster.client.merge(cluster.widget_path("one"), {"metadata": {"finalizers": [FINALIZER]}})
        with pytest.raises(Conflict):
            await finalizer.remove(client, Widget.gvk, seen, FINALIZER)
        assert cluster.widget("one")["metadata"]["finalizers"] == [FINALIZER]
        seen = (await client.get(Widget, "one", namespace=cluster.namespace)).metadata
        cluster.drop_finalizers("one")
        cluster.client.delete(cluster.widget_path("one"))
        with pytest.raises(NotFound):
            await finalizer.remove(client, Widget.gvk, seen, FINALIZER)
        cluster.apply("one", finalizers=[FINALIZER])  # another one of that name
        with pytest.raises(Conflict):
            await finalizer.remove(client, Widget.gvk, seen, FINALIZER)
        assert cluster.widget("one")["metadata"]["finalizers"] == [FINALIZER]
        cluster.drop_finalizers("one")
    finally:
        await client.close()


async def test_object_that_vanishes_during_its_reconcile(
    api_server: ApiServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """An object that is deleted while it is reconciled is done: no error, no status, no retry."""

    @controller(Widget, timeout=5.0)
    class Vanishing(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            if obj.metadata.name == "one":
                await ctx.client.delete(Widget, "one", namespace=ctx.request.namespace)
            return Result()

    async with operating(Vanishing(), api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: not cluster.exists(cluster.widget_path("one")))
        cluster.apply("two")
        await soon(lambda: cluster.state("two", "Ready")[0] == "True")
        await soon(lambda: scrape(manager)['controller_runtime_active_workers{controller="widget"}'] == 0)
        assert scrape(manager)['controller_runtime_reconcile_errors_total{controller="widget"}'] == 0
    assert "reconcile failed" not in caplog.text


async def test_finalizer_of_an_earlier_version_is_let_go(api_server: ApiServer, cluster: Cluster) -> None:
    """An operator that no longer has a finalize does not keep objects that its earlier version held."""
    cluster.apply("one", finalizers=[FINALIZER])
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: not cluster.exists(cluster.widget_path("one")))
