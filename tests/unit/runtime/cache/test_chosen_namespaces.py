"""Namespaces that are chosen by their labels come and go; on FakeCluster."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.api import Conditions, Object, ObjectMeta, controller, resource
from pyopscaffold.errors import Forbidden, UsageError, UserError
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime import Context, Options, Reconciler, Result
from pyopscaffold.runtime.cache import Cache, Informer
from pyopscaffold.testing import FakeCluster
from pyopscaffold.testing.waiting import eventually_async

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEAM = "team=a"


@dataclass(kw_only=True)
class TenantStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group="tenants.example.com", version="v1")
@dataclass(kw_only=True)
class Tenant(Object):
    """What is reconciled in chosen namespaces."""

    status: TenantStatus = field(default_factory=TenantStatus)


@controller(Tenant, owns=[CONFIG_MAP])
class TenantReconciler(Reconciler[Tenant]):
    """Notes where it was called."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def reconcile(self, ctx: Context, obj: Tenant) -> Result:
        """Look at the children as well: that must not wait for other namespaces."""
        await ctx.cache.list(CONFIG_MAP, namespace=ctx.request.namespace)
        self.seen.append(ctx.request.namespace)
        return Result()


@pytest.fixture
async def cluster() -> FakeCluster:
    """Give namespaces one and two, the first of team a, each with a ConfigMap and a Tenant."""
    cluster = FakeCluster(Tenant)
    for name in ("one", "two"):
        cluster.add_namespace(name)
        metadata = {"name": name, "namespace": name}
        await cluster.client.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, field_manager="tests"
        )
        await cluster.client.create(Tenant(metadata=ObjectMeta(name=name, namespace=name)), field_manager="tests")
    await label(cluster, "one", "a")
    return cluster


async def label(cluster: FakeCluster, namespace: str, team: str | None) -> None:
    """Give a namespace to a team, or take it away."""
    await cluster.client.patch(NAMESPACE, namespace, {"metadata": {"labels": {"team": team}}})


@asynccontextmanager
async def watching(cluster: FakeCluster) -> AsyncIterator[tuple[Cache, Informer]]:
    """Run a cache of team a's ConfigMaps for the length of a block."""
    cache = Cache(cluster.client, clock=cluster.clock, namespace_labels=TEAM)
    informer = cache.informer(CONFIG_MAP)
    task = asyncio.create_task(cache.run())
    try:
        await cache.wait_synced()
        yield cache, informer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def held(informer: Informer) -> set[str]:
    """Return the names of the objects that are held."""
    return {item.meta.name for item in informer.list()}


async def test_namespaces_come_and_go(cluster: FakeCluster) -> None:
    """A namespace that gets the label is followed; one that loses it is dropped, its objects told as deleted."""
    async with watching(cluster) as (_, informer):
        changes: list[tuple[str, bool]] = []
        assert held(informer) == {"one"}
        informer.add_handler(lambda d: changes.append(((d.new or d.old).meta.name, d.new is not None)))
        await label(cluster, "two", "a")
        await eventually_async(lambda: held(informer) == {"one", "two"})
        await label(cluster, "one", None)
        await eventually_async(lambda: held(informer) == {"two"})
        assert informer.namespaces == ("two",)
        assert len(cluster.transport.watches) == 2
        await label(cluster, "one", "a")
        await eventually_async(lambda: held(informer) == {"one", "two"})
        assert changes == [("one", True), ("two", True), ("one", False), ("one", True)]


async def test_other_namespaces_are_never_asked_for(cluster: FakeCluster) -> None:
    """No request goes to a namespace that is not chosen, so no right to it is needed; own writes there are not held."""
    async with watching(cluster) as (cache, informer):
        metadata = {"name": "mine", "namespace": "two"}
        await cluster.client.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}, field_manager="tests"
        )
        assert held(informer) == {"one"}
        assert [obj["metadata"]["name"] for obj in await cache.reader.list(CONFIG_MAP)] == ["one"]
        reads = [asked for asked in cluster.requests if asked.verb in ("list", "watch")]
        assert {(asked.kind.kind, asked.namespace) for asked in reads} == {("Namespace", ""), ("ConfigMap", "one")}


async def test_later_informers_have_the_namespaces_too(cluster: FakeCluster) -> None:
    """An informer made while the cache runs begins with what is chosen by then."""
    async with watching(cluster) as (cache, _):
        late = cache.informer(CONFIG_MAP, labels="!x")
        await late.wait_synced()
        assert held(late) == {"one"}


async def test_deleted_namespace_is_dropped(cluster: FakeCluster) -> None:
    """A namespace that is deleted takes its objects with it, and its watch."""
    async with watching(cluster) as (_, informer):
        await cluster.client.delete(NAMESPACE, "one")
        await eventually_async(lambda: informer.namespaces == ())
        assert held(informer) == set()


async def test_forbidden_namespace_holds_up_nobody(cluster: FakeCluster) -> None:
    """Where the operator has no role yet, the others go on, and it is read once the role is there."""
    await label(cluster, "two", "a")
    cluster.fail(Forbidden("no role here"), verb="watch", kind=CONFIG_MAP)
    async with watching(cluster) as (_, informer):
        assert informer.synced
        assert isinstance(informer.failure, Forbidden)
        assert len(held(informer)) == 1
        cluster.clock.advance(1.0)
        await eventually_async(lambda: held(informer) == {"one", "two"})
        assert informer.failure is None


async def test_operator_of_a_team(cluster: FakeCluster) -> None:
    """Objects of chosen namespaces are reconciled, those of others are not until they are chosen."""
    reconciler = TenantReconciler()
    async with cluster.operating(reconciler, namespace_selector=TEAM) as manager:
        assert set(reconciler.seen) == {"one"}
        await label(cluster, "two", "a")
        await cluster.settle(manager)
        assert set(reconciler.seen) == {"one", "two"}
        reconciler.seen.clear()
        await label(cluster, "one", "b")
        await cluster.settle(manager)
        for name in ("one", "two"):
            patch = {"metadata": {"annotations": {"look": "again"}}}
            await cluster.client.patch(Tenant, name, patch, namespace=name)
        await cluster.settle(manager)
        assert set(reconciler.seen) == {"two"}


async def test_role_for_namespaces_is_missed_at_once(cluster: FakeCluster) -> None:
    """Without the right to list namespaces the operator does not start, and says what gives it."""
    cluster.fail(Forbidden("no namespaces for you"), kind=NAMESPACE)
    with pytest.raises(UserError, match="no namespaces for you") as caught:
        async with cluster.operating(TenantReconciler, namespace_selector=TEAM):
            pass
    assert '@rbac(groups=[""], resources=["namespaces"]' in str(caught.value.hint)


async def test_by_name_or_by_label(capsys: pytest.CaptureFixture[str]) -> None:
    """Namespaces are named or chosen; both together are refused, and so is what is no selector."""
    assert Options.from_args(["--namespace-selector=team in (a)"], {}).namespace_selector == "team in (a)"
    for wrong, said in (
        (["--namespace=x", "--namespace-selector=a=b"], "one of them"),
        (["--namespace-selector=a b"], "no label"),
    ):
        with pytest.raises(SystemExit):
            Options.from_args(wrong, {})
        assert said in capsys.readouterr().err
    with pytest.raises(UsageError, match="by name or by label"):
        Cache(FakeCluster().client, namespace="one", namespace_labels=TEAM)
