"""Controllers against a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Watch, controller
from pyopscaffold.errors import PyopscaffoldError
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET
from pyopscaffold.runtime import Context, Reconciler, Result
from tests.cluster.widgets import (
    GROUP,
    Cluster,
    Widget,
    WidgetReconciler,
    config_map,
    operating,
    scrape,
    soon,
)

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer


async def test_creates_child_and_reports(api_server: ApiServer, cluster: Cluster) -> None:
    """A new object gets its child, with a controller owner reference, and conditions for its generation."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        made = cluster.apply("one", text="hi")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Applied"))
    child, status = cluster.config_map("one"), cluster.widget("one")["status"]
    assert child["data"] == {"text": "hi"}
    owner = child["metadata"]["ownerReferences"][0]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (made["metadata"]["uid"], True, True)
    assert status["observedGeneration"] == 1
    assert {c["type"]: (c["status"], c["observedGeneration"]) for c in status["conditions"]} == {
        "Validated": ("True", 1),
        "Ready": ("True", 1),
    }


async def test_edit_of_an_owned_field_is_put_back(api_server: ApiServer, cluster: Cluster) -> None:
    """A hand edit of what the operator owns is undone; fields of others stay."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text="hi")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "edited", "other": "kept"}})
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "hi", "other": "kept"})


async def test_deleted_child_comes_back(api_server: ApiServer, cluster: Cluster) -> None:
    """A child that somebody deletes is made anew."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text="hi")
        await soon(lambda: cluster.config_map("one"))
        uid = cluster.config_map("one")["metadata"]["uid"]
        cluster.client.delete(cluster.config_map_path("one"))
        await soon(lambda: cluster.config_map("one")["metadata"]["uid"] != uid)


async def test_steady_state_asks_for_nothing(api_server: ApiServer, cluster: Cluster) -> None:
    """What is in line costs no request and no call; a new object costs one call, one child and one status."""
    reconciler = WidgetReconciler()
    async with operating(reconciler, api_server, cluster.namespace):
        for name in ("one", "two"):
            cluster.apply(name)
        await soon(lambda: all(cluster.state(name, "Ready")[0] == "True" for name in ("one", "two")))
        await soon(reconciler.quiet)
        before, called = len(cluster.requests(api_server)), len(reconciler.seen)
        cluster.client.merge(f"{cluster.widget_path('one')}/status", {"status": {"calls": 7}})
        cluster.client.apply(cluster.config_map_path("unrelated"), config_map("unrelated", "x"))
        cluster.apply("three")
        await soon(lambda: cluster.state("three", "Ready")[0] == "True")
        await soon(reconciler.quiet)
        assert reconciler.seen[called:] == ["three"]
    asked = cluster.requests(api_server)[before:]
    assert [(record.verb, record.resource, record.subresource, record.name) for record in asked] == [
        ("patch", "configmaps", "", "three"),
        ("patch", "widgets", "status", "three"),
    ]


async def test_relists_write_nothing(api_server: ApiServer, cluster: Cluster) -> None:
    """When all is in line, a forced relist of every kind makes no write, however often."""
    reconciler = WidgetReconciler()
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        for name in ("one", "two"):
            cluster.apply(name, text="hi")
        await soon(lambda: all(cluster.state(name, "Ready")[0] == "True" for name in ("one", "two")))
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "edited"}})
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "hi"})
        cluster.client.merge(cluster.config_map_path("one"), {"metadata": {"labels": {"by": "hand"}}})
        await soon(reconciler.quiet)
        before = len(cluster.writes(api_server))
        for _ in range(2):
            counts = [informer.relists for informer in manager.cache.informers]
            for informer in manager.cache.informers:
                informer.relist()
            await soon(lambda: all(i.relists > n for i, n in zip(manager.cache.informers, counts, strict=True)))  # noqa: B023 - awaited at once
        cluster.apply("three")
        await soon(lambda: cluster.state("three", "Ready")[0] == "True")
    written = cluster.writes(api_server)[before:]
    assert written
    assert {record.name for record in written} == {"three"}


async def test_new_generation_is_reported(api_server: ApiServer, cluster: Cluster) -> None:
    """A change of the spec moves observedGeneration; lastTransitionTime stays while the status does."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text="hi")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        first = cluster.condition("one", "Ready")
        cluster.apply("one", text="bye")
        await soon(lambda: cluster.widget("one")["status"]["observedGeneration"] == 2)
    assert cluster.config_map("one")["data"] == {"text": "bye"}
    assert cluster.condition("one", "Ready") == {**first, "observedGeneration": 2}


async def test_status_write_does_not_retrigger(api_server: ApiServer, cluster: Cluster) -> None:
    """A reconcile that changes its status every time runs no more often than its object and children change."""

    @controller(Widget, timeout=5.0)
    class Counting(Reconciler[Widget]):
        calls = 0

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            type(self).calls += 1
            obj.status.calls = self.calls
            return Result()

    async with operating(Counting(), api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: cluster.widget("one")["status"].get("calls") == 1)
        await soon(lambda: manager.cache.informer(Widget).get(cluster.namespace, "one").raw.count(b'"calls":1'))
        cluster.apply("two")
        await soon(lambda: cluster.widget("two")["status"].get("calls"))
        assert Counting.calls == 2
        assert cluster.widget("one")["status"]["calls"] == 1
        assert cluster.state("one", "Ready") == ("True", "Reconciled")


async def test_unowned_child_is_pruned(api_server: ApiServer, cluster: Cluster) -> None:
    """A child that is no longer asked for goes; one that is stays, and so does what the object does not control."""

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Renaming(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            await ctx.prune(kept=[await ctx.apply(config_map(obj.spec.text, "same"))])
            return Result()

    foreign = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign"}}
    cluster.client.apply(cluster.config_map_path("foreign"), foreign)
    async with operating(Renaming(), api_server, cluster.namespace):
        cluster.apply("one", text="first")
        await soon(lambda: cluster.config_map("first"))
        cluster.apply("one", text="second")
        await soon(lambda: cluster.config_map("second"))
        await soon(lambda: not cluster.exists(cluster.config_map_path("first")))
    assert cluster.exists(cluster.config_map_path("foreign"))
    assert [record.name for record in cluster.writes(api_server) if record.verb == "delete"] == ["first"]


async def test_child_of_another_is_left_alone(api_server: ApiServer, cluster: Cluster) -> None:
    """A child that another object controls is not taken over, and the status says why."""
    other = {"apiVersion": "v1", "kind": "Pod", "name": "other", "uid": "0" * 8, "controller": True}
    theirs = {**config_map("one", "theirs"), "metadata": {"name": "one", "ownerReferences": [other]}}
    cluster.client.apply(cluster.config_map_path("one"), theirs)
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", text="mine")
        await soon(lambda: cluster.state("one", "Ready") == ("False", "AlreadyOwned"))
    assert cluster.config_map("one")["data"] == {"text": "theirs"}


async def test_requeue_after_looks_again(api_server: ApiServer, cluster: Cluster) -> None:
    """Result(requeue_after=…) brings the object back though nothing happened, and is no failure."""

    @controller(Widget, timeout=5.0)
    class Polling(Reconciler[Widget]):
        calls = 0

        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            self.calls += 1
            return Result(requeue_after=0.05) if self.calls < 3 else Result()

    reconciler = Polling()
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Reconciled"))
        metrics = scrape(manager)
    assert reconciler.calls == 3
    assert metrics['controller_runtime_reconcile_total{controller="widget",result="requeue_after"}'] == 2
    assert metrics['controller_runtime_reconcile_errors_total{controller="widget"}'] == 0


async def test_paused_object_is_left_alone(api_server: ApiServer, cluster: Cluster) -> None:
    """The annotation <group>/paused stops work on an object until it is taken away."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        cluster.apply("one", annotations={f"{GROUP}/paused": "true"})
        cluster.apply("two")
        await soon(lambda: cluster.state("two", "Ready")[0] == "True")
        assert not cluster.exists(cluster.config_map_path("one"))
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")


async def test_watched_kind_reaches_by_its_map(api_server: ApiServer, cluster: Cluster) -> None:
    """A change of a watched object reconciles what the map function names; a map that raises costs nothing else."""

    def widgets_of(secret: dict[str, Any]) -> list[tuple[str, str]]:
        return [(secret["metadata"]["namespace"], secret["metadata"]["labels"]["widget"])]

    @controller(Widget, watches=[Watch(kind=SECRET, map=widgets_of)], timeout=5.0)
    class Watching(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            obj.status.calls = len(await ctx.cache.list(SECRET, namespace=ctx.request.namespace))
            return Result()

    def secret(name: str, **labels: str) -> None:
        path = f"/api/v1/namespaces/{cluster.namespace}/secrets/{name}"
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "labels": labels}}
        cluster.client.apply(path, body)

    async with operating(Watching(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        assert cluster.widget("one")["status"]["calls"] == 0
        secret("no-label")
        secret("labelled", widget="one")
        await soon(lambda: cluster.widget("one")["status"]["calls"] == 2)


async def test_watch_by_labels_holds_nothing_else(api_server: ApiServer, cluster: Cluster) -> None:
    """Of a kind that is watched by labels, only what they select is asked for, kept, and leads to a look."""

    def widget_one(secret: dict[str, Any]) -> list[tuple[str, str]]:
        return [(secret["metadata"]["namespace"], "one")]

    @controller(Widget, watches=[Watch(kind=SECRET, map=widget_one, labels="app=widget")], timeout=5.0)
    class Watching(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            found = await ctx.cache.list(SECRET, namespace=ctx.request.namespace, labels="app=widget")
            obj.status.calls = len(found)
            with pytest.raises(PyopscaffoldError, match="labels='app=widget'"):
                await ctx.cache.list(SECRET, namespace=ctx.request.namespace)
            return Result()

    def secret(name: str, **labels: str) -> None:
        path = f"/api/v1/namespaces/{cluster.namespace}/secrets/{name}"
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "labels": labels}}
        cluster.client.apply(path, body)

    secret("other", app="other")
    async with operating(Watching(), api_server, cluster.namespace):
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        assert cluster.widget("one")["status"].get("calls", 0) == 0
        secret("ours", app="widget")
        await soon(lambda: cluster.widget("one")["status"]["calls"] == 1)
