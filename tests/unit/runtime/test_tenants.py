"""Tenants' configuration on FakeCluster: what wakes whom, what is kept, and what a start without permission says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import Conditions, Object, ObjectMeta, TenantConfig, controller, resource
from pyopscaffold.errors import Forbidden, TenantConfigMissing, UserError
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime import Context, Reconciler, Result, predicate, settings
from pyopscaffold.testing import FakeCluster

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(kw_only=True)
class ShopStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group="shops.example.com", version="v1")
@dataclass(kw_only=True)
class Shop(Object):
    """Something of a tenant."""

    status: ShopStatus = field(default_factory=ShopStatus)


@dataclass(kw_only=True)
class Settings:
    tier: str = "small"
    names: list[str] = field(default_factory=list)


class Noting(Reconciler[Shop]):
    """Notes what each look has read."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.last: Settings | None = None

    async def reconcile(self, ctx: Context, obj: Shop) -> Result:
        """Read, and spoil what was read."""
        try:
            self.last = await ctx.tenant_config(Settings)
        except TenantConfigMissing:
            self.seen.append((str(ctx.request), "none"))
            return Result()
        self.seen.append((str(ctx.request), f"{self.last.tier} {self.last.names}"))
        self.last.names.append("spoilt")
        return Result()


@controller(Shop, tenants=TenantConfig(name="shop"))
class Strict(Noting):
    """Configured from its own namespace."""


@controller(Shop, tenants=TenantConfig(name="shop", shared_from=["p", "q"]), predicates=[predicate.generation_changed])
class Shared(Noting):
    """Configured from p or q."""


@controller(Shop)
class Without(Noting):
    """Has no tenants."""


async def cluster_of(*shops: str) -> FakeCluster:
    """Make namespaces with these shops, ``namespace/name``."""
    cluster = FakeCluster(Shop)
    for namespace in dict.fromkeys(shop.partition("/")[0] for shop in shops):
        cluster.add_namespace(namespace)
    for shop in shops:
        namespace, _, name = shop.partition("/")
        await cluster.client.create(Shop(metadata=ObjectMeta(name=name, namespace=namespace)), field_manager="tests")
    return cluster


async def configure(cluster: FakeCluster, place: str, data: dict[str, str], **labels: str) -> None:
    """Apply a ConfigMap, ``namespace/name``."""
    namespace, _, name = place.partition("/")
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    await cluster.client.apply(body, field_manager="tests")


async def test_only_the_tenants_objects_are_woken() -> None:
    """A change of one tenant's configuration costs a look at each of its objects, and none at those of others."""
    cluster = await cluster_of("a/one", "a/two", "b/one")
    reconciler = Strict()
    async with cluster.operating(reconciler) as manager:
        assert sorted(reconciler.seen) == [("a/one", "none"), ("a/two", "none"), ("b/one", "none")]
        reconciler.seen.clear()
        await configure(cluster, "a/shop", {"tier": "large"})
        await cluster.settle(manager)
        assert sorted(reconciler.seen) == [("a/one", "large []"), ("a/two", "large []")]
        reconciler.seen.clear()
        await configure(cluster, "a/other", {"tier": "x"})
        await configure(cluster, "a/shop", {"tier": "large"})
        await cluster.settle(manager)
        assert reconciler.seen == []


async def test_texts_are_taken_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many objects a tenant has, its ConfigMap is read once a version, be it wrong; what one got is its own."""
    calls: list[str] = []
    values: Callable[..., Any] = settings.values

    def counted(cls: type, data: Any, *, place: str) -> Any:
        calls.append(place)
        return values(cls, data, place=place)

    monkeypatch.setattr(settings, "values", counted)
    cluster = await cluster_of(*(f"a/{number}" for number in range(5)))
    await configure(cluster, "a/shop", {"names": '["x"]'})
    reconciler = Strict()
    async with cluster.operating(reconciler) as manager:
        assert {said for _, said in reconciler.seen} == {"small ['x']"}
        assert calls == ["configmap a/shop"]
        await configure(cluster, "a/shop", {"names": "["})
        await cluster.settle(manager)
        assert calls == ["configmap a/shop"] * 2


async def test_own_label_counts_whatever_the_predicates_say() -> None:
    """The label that has to agree with the namespace's is looked at when it changes; two ConfigMaps are refused."""
    cluster = await cluster_of("a/one", "p/x", "q/x")
    await cluster.client.patch(NAMESPACE, "a", {"metadata": {"labels": {"tenant": "acme"}}})
    await configure(cluster, "q/shop-acme", {"tier": "large"}, tenant="acme")

    async def stalled() -> str:
        shop = await cluster.client.get(Shop, "one", namespace="a")
        return next((item.message for item in shop.status.conditions if item.type == "Stalled"), "")

    reconciler = Shared()
    async with cluster.operating(reconciler) as manager:
        assert reconciler.seen == [("a/one", "large []")]
        await cluster.client.patch(Shop, "one", {"metadata": {"labels": {"tenant": "x"}}}, namespace="a")
        await cluster.settle(manager)
        assert await stalled() == "a/one says tenant=x, but its namespace tenant=acme"
        await cluster.client.patch(Shop, "one", {"metadata": {"labels": {"tenant": "acme"}}}, namespace="a")
        await cluster.settle(manager)
        assert await stalled() == ""
        await configure(cluster, "p/shop-acme", {"tier": "small"}, tenant="acme")
        await cluster.settle(manager)
        assert await stalled() == "configmap p/shop-acme and configmap q/shop-acme are both there; leave one"


async def test_a_start_without_permission() -> None:
    """What the operator may not read is told when it starts."""
    cluster = await cluster_of("a/one")
    cluster.fail(Forbidden("no configmaps for you"), verb="list", kind=CONFIG_MAP)
    with pytest.raises(UserError, match="no configmaps for you"):
        async with cluster.operating(Strict()):
            pass


async def test_without_a_declaration() -> None:
    """Who asks without having declared tenants is told what to write."""
    cluster = await cluster_of("a/one")
    verdict = await cluster.reconcile(Without, Shop(metadata=ObjectMeta(name="one", namespace="a")))
    assert verdict.failure
    assert "tenants=TenantConfig(" in verdict.failure.message
