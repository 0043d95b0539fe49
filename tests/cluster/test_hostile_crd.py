"""A CRD that is removed while the operator runs, and installed again, on a real API server."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyopscaffold.api import Object, controller, resource
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result
from tests.cluster.widgets import Cluster, WidgetSpec, WidgetStatus, config_map, install, operating, soon

if TYPE_CHECKING:
    import pytest

    from pyopscaffold.testing import ApiServer

GROUP = "ghosts.example.com"
CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ghosts.{GROUP}"


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Ghost(Object):
    """A kind that comes and goes."""

    spec: WidgetSpec = field(default_factory=WidgetSpec)
    status: WidgetStatus = field(default_factory=WidgetStatus)


@controller(Ghost, owns=[CONFIG_MAP], timeout=5.0)
class Haunting(Reconciler[Ghost]):
    """Keeps a ConfigMap, and holds the Ghost until it has let go."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    async def reconcile(self, ctx: Context, obj: Ghost) -> Result:
        """Apply the ConfigMap."""
        await ctx.apply(config_map(obj.metadata.name, obj.spec.text))
        return Result()

    async def finalize(self, ctx: Context, obj: Ghost) -> None:
        """Note it."""
        self.ended.append(obj.metadata.name)


async def haunted(cluster: Cluster, name: str) -> None:
    """Make a Ghost, and wait until it is ready."""
    path = f"/apis/{GROUP}/v1/namespaces/{cluster.namespace}/ghosts/{name}"
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Ghost", "metadata": {"name": name}, "spec": {"text": name}}
    await soon(lambda: cluster.client.apply(path, body), within=60)

    def ready() -> bool:
        found = cluster.client.get(path).get("status", {}).get("conditions", [])
        return [one["status"] for one in found if one["type"] == "Ready"] == ["True"]

    await soon(ready, within=90)


async def test_a_crd_goes_and_comes_back(
    api_server: ApiServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """With its CRD all objects go, finalizers too, and the cache is empty; with it again, new ones are reconciled."""
    install(cluster.client, group=GROUP, kind="Ghost")
    reconciler = Haunting()
    async with operating(reconciler, api_server, cluster.namespace) as manager:
        for name in ("one", "two"):
            await haunted(cluster, name)
        ghosts = manager.cache.informer(Ghost)
        cluster.client.delete(CRD)
        await soon(lambda: not cluster.exists(CRD) and not ghosts.list(), within=90)
        assert sorted(reconciler.ended) == ["one", "two"]
        gone = time.monotonic()
        await soon(lambda: ghosts.failure, within=90)
        assert manager.ready
        install(cluster.client, group=GROUP, kind="Ghost")
        await haunted(cluster, "three")
        assert [stored.meta.name for stored in ghosts.list()] == ["three"]
        assert ghosts.failure is None
        asked = [record for record in api_server.audit_log.records() if record.resource == "ghosts"]
        in_vain = [record for record in asked if record.code == 404 and record.verb in {"list", "watch"}]
        # by delays that double from half a second, at the least
        assert 1 <= len(in_vain) <= 2 + math.log2(1 + (time.monotonic() - gone + 5) / 0.4)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    cluster.client.delete(CRD)
