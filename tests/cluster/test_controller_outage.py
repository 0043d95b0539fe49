"""An operator whose API server goes away and comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.cluster.widgets import Cluster, WidgetReconciler, install, operating, soon

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.testing import ControlPlane


async def test_outage_is_survived(control_planes: Callable[..., ControlPlane]) -> None:
    """What changes when the server is back is reconciled; the operator need not be started again."""
    plane: Any = await asyncio.to_thread(control_planes, audit=True)
    client = plane.server.client()
    install(client)
    cluster = Cluster(client, "default")
    reconciler = WidgetReconciler()
    async with operating(reconciler, plane.server, "default"):
        cluster.apply("one", text="before")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        await asyncio.to_thread(plane.stop_api_server)
        await asyncio.to_thread(plane.start_api_server)
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "edited"}})
        cluster.apply("two", text="after")
        await soon(lambda: cluster.state("two", "Ready")[0] == "True", within=60)
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "before"}, within=60)
        await soon(reconciler.quiet)
        settled = len(cluster.writes(plane.server))
        cluster.apply("three")
        await soon(lambda: cluster.state("three", "Ready")[0] == "True")
        assert {record.name for record in cluster.writes(plane.server)[settled:]} == {"three"}
    client.close()
