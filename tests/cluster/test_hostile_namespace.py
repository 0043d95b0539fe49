"""A namespace that is deleted while the operator works in it, on a real API server; the test plays its controller."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.testing.discovery import finalize_namespace
from tests.cluster.widgets import Cluster, Widget, config_map, operating, soon

if TYPE_CHECKING:
    import pytest

    from pyopscaffold.testing import ApiServer

NAMES = tuple(f"widget-{number}" for number in range(8))


@controller(Widget, owns=[CONFIG_MAP], timeout=5.0, workers=4)
class Keeping(Reconciler[Widget]):
    """Keeps a ConfigMap; the text "needy" makes another one before it lets go."""

    def __init__(self) -> None:
        self.tried: set[str] = set()

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply, and tell."""
        self.tried.add(obj.metadata.name)
        await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        ctx.event("Normal", "Applied", f"the ConfigMap, in {obj.metadata.resource_version}")
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> None:
        """Tell, and leave a trace."""
        ctx.event("Normal", "Ended", "it goes")
        if obj.spec.text == "needy":
            await ctx.apply(config_map(f"{obj.metadata.name}-trace", "was here"))


async def made(cluster: Cluster, *names: str, text: str = "hello") -> None:
    """Make Widgets, and wait until they are ready."""
    for name in names:
        cluster.apply(name, text=text)
    for name in names:
        await soon(lambda name=name: cluster.state(name, "Ready")[0] == "True", within=60)  # type: ignore[misc]  # bound


async def test_a_namespace_goes_without_an_error(
    api_server: ApiServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """Children that can't be made any more are no errors, and no loop; the finalizers go, and so does the namespace."""
    reconciler = Keeping()
    async with operating(reconciler, api_server, cluster.namespace):
        await made(cluster, *NAMES)
        before = len(cluster.requests(api_server))
        caplog.clear()
        reconciler.tried.clear()
        cluster.client.delete(f"/api/v1/namespaces/{cluster.namespace}")
        cluster.client.request("DELETE", cluster.config_map_path("").rstrip("/"))
        await soon(lambda: reconciler.tried == set(NAMES), within=60)
        cluster.client.request("DELETE", cluster.widget_path("").rstrip("/"))
        await soon(lambda: not cluster.client.get(cluster.widget_path("").rstrip("/"))["items"], within=60)
        finalize_namespace(cluster.client, cluster.namespace)
        await soon(lambda: not cluster.exists(f"/api/v1/namespaces/{cluster.namespace}"), within=60)
        asked = cluster.requests(api_server)[before:]
    assert {record.name for record in asked if record.code == 403} == set(NAMES)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert "not sent" not in caplog.text
    # refused at delays that double, and the finalizer
    assert len(asked) <= 12 * len(NAMES)


async def test_a_finalizer_that_can_not_be_done_is_told_of(api_server: ApiServer, cluster: Cluster) -> None:
    """What finalize can't make in a namespace that goes is said in the object, and the annotation lets go of it."""
    async with operating(Keeping(), api_server, cluster.namespace):
        await made(cluster, "one", text="needy")
        cluster.client.delete(f"/api/v1/namespaces/{cluster.namespace}")
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: cluster.state("one", "Ready") == ("False", "NamespaceTerminating"), within=60)
        assert "because it is being terminated" in cluster.condition("one", "Reconciling")["message"]
        skip = {"metadata": {"annotations": {"runtime.example.com/skip-finalize": "true"}}}
        cluster.client.merge(cluster.widget_path("one"), skip)
        await soon(lambda: not cluster.exists(cluster.widget_path("one")), within=60)
