"""One reconcile of one object, without a controller's queue."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pyopscaffold.runtime.cache import Cache
from pyopscaffold.runtime.controller import Controller, declaration_for
from pyopscaffold.runtime.events import EventRecorder
from pyopscaffold.runtime.metrics import Metrics
from pyopscaffold.runtime.reconcile import Reconciler, Request

if TYPE_CHECKING:
    from pyopscaffold.kube.meta import ObjectMeta
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.processor import Verdict


async def at(client: Client, clock: Clock, reconciler: Reconciler[Any], metadata: ObjectMeta) -> Verdict:
    """Look at the object once; its events are sent when this returns."""
    declaration = declaration_for(reconciler)
    cache = Cache(client, clock=clock)
    reporter = f"{declaration.resource.gvk.group}/{declaration.name}"
    events = EventRecorder(client, controller=reporter, instance="test", clock=clock)
    controller = Controller(
        reconciler,
        client=client,
        cache=cache,
        events=events,
        metrics=Metrics().controller(declaration.name),
        clock=clock,
    )
    running = asyncio.create_task(cache.run())
    try:
        await cache.wait_synced()
        verdict = await controller.look(Request(metadata.namespace, metadata.name))
        events.close()
        await events.run()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return verdict
