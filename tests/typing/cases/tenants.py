"""A tenant's configuration is an instance of the class that was asked for; map functions may give requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from pyopscaffold.api import Object, TenantConfig, Watch, controller, resource
from pyopscaffold.kube.builtin import SECRET
from pyopscaffold.runtime import Context, Reconciler, Request, Result


@dataclass(kw_only=True)
class Settings:
    """What a tenant says."""

    tier: str = "small"


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Shop(Object):
    """Something of a tenant."""


def pairs(_: object) -> list[tuple[str, str]]:
    """Give namespace and name."""
    return [("a", "b")]


def requests(_: object) -> list[Request]:
    """Give the cluster, too."""
    return [Request("a", "b", "east")]


@controller(
    Shop,
    watches=[Watch(kind=SECRET, map=pairs), Watch(kind=SECRET, map=requests)],
    tenants=TenantConfig(name="shop", shared_from=["platform"]),
)
class ShopReconciler(Reconciler[Shop]):
    """Reads it."""

    async def reconcile(self, ctx: Context, obj: Shop) -> Result:
        """Read it."""
        assert_type(await ctx.tenant_config(Settings), Settings)
        assert_type(ctx.request.cluster, str)
        return Result()
