"""A request's cluster goes through map function, queue and log; there is no other cluster yet."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import pytest

from pyopscaffold.api import Conditions, Object, ObjectMeta, Watch, controller, resource
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Request, Result
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.handler import by_map
from pyopscaffold.runtime.objects import parse
from pyopscaffold.runtime.queue import WorkQueue
from pyopscaffold.testing import FakeCluster


@dataclass(kw_only=True)
class SiteStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group="sites.example.com", version="v1")
@dataclass(kw_only=True)
class Site(Object):
    """Something that may be in several clusters."""

    status: SiteStatus = field(default_factory=SiteStatus)


def everywhere(_: object) -> list[Request]:
    """Ask for the site here and in the east."""
    return [Request("default", "one"), Request("default", "one", "east")]


@controller(Site, watches=[Watch(kind=CONFIG_MAP, map=everywhere)])
class SiteReconciler(Reconciler[Site]):
    """Notes what it was asked for."""

    def __init__(self) -> None:
        self.seen: list[Request] = []

    async def reconcile(self, ctx: Context, obj: Site) -> Result:
        """Note it."""
        self.seen.append(ctx.request)
        return Result()


async def test_it_reaches_the_log_and_no_object(caplog: pytest.LogCaptureFixture) -> None:
    """A request for another cluster is an error that names it, and takes no object of this one for it."""
    cluster = FakeCluster(Site)
    metadata = ObjectMeta(name="one", namespace="default")
    await cluster.client.create(Site(metadata=metadata), field_manager="tests")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
    reconciler = SiteReconciler()
    async with cluster.operating(reconciler) as manager:
        reconciler.seen.clear()
        with caplog.at_level(logging.ERROR, "pyopscaffold.controller"):
            await cluster.client.create(body, field_manager="tests")
            await cluster.settle(manager)
        assert reconciler.seen == [Request("default", "one")]
    (fields,) = [record.__dict__["fields"] for record in caplog.records]
    assert (fields["cluster"], fields["name"], fields["error"]) == ("east", "one", "there is no cluster east here")


async def test_it_survives_the_queue() -> None:
    """The same name in two clusters are two items; texts show the cluster."""
    queue: WorkQueue[Request] = WorkQueue(clock=ManualClock())
    for request in (Request("ns", "a"), Request("ns", "a", "east"), Request("ns", "a")):
        queue.add(request)
    assert [str(await queue.get()), str(await queue.get())] == ["ns/a", "east:ns/a"]


def test_a_map_function_that_gives_texts() -> None:
    """A name where a pair is wanted is refused, for three letters would make a request."""
    stored = parse(CONFIG_MAP, b'{"metadata": {"name": "x"}}')
    with pytest.raises(TypeError, match="'abc', not"):
        by_map(Watch(kind=CONFIG_MAP, map=lambda _: ["abc"]))(stored)  # type: ignore[list-item]  # the mistake itself
