"""Which namespaces a cache holds and a controller works in: one, several, all, by label; on a real API server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.api import Conditions, Object, controller, resource
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.testing.discovery import create_namespace, purge_namespace
from tests.cluster.widgets import config_map, install, operating, soon

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pyopscaffold.testing import ApiServer, RestClient

pytestmark = pytest.mark.xdist_group("tenants")

GROUP = "scope.example.com"
TEAM = f"{GROUP}/team"


@dataclass(kw_only=True)
class PlaceStatus:
    conditions: Conditions = field(default_factory=list)


@resource(group=GROUP, version="v1")
@dataclass(kw_only=True)
class Place(Object):
    """Something in a namespace."""

    status: PlaceStatus = field(default_factory=PlaceStatus)


@controller(Place, owns=[CONFIG_MAP])
class PlaceReconciler(Reconciler[Place]):
    """Leaves a ConfigMap."""

    async def reconcile(self, ctx: Context, obj: Place) -> Result:
        """Apply it."""
        await ctx.apply(config_map("place", "x"))
        return Result()


@pytest.fixture
def namespaces(admin: RestClient) -> Iterator[list[str]]:
    """Give three namespaces, the first two of team a, each with a Place."""
    install(admin, group=GROUP, kind="Place")
    names = [create_namespace(admin) for _ in range(3)]
    for name in names:
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Place", "metadata": {"name": "one"}}
        admin.apply(f"/apis/{GROUP}/v1/namespaces/{name}/places/one", body)
    for name in names[:2]:
        admin.merge(f"/api/v1/namespaces/{name}", {"metadata": {"labels": {TEAM: "a"}}})
    yield names
    for name in names:
        purge_namespace(admin, name)


@pytest.mark.parametrize(
    ("chosen", "options"),
    [(1, {}), (2, {}), (3, {"namespaces": ()}), (2, {"namespaces": (), "namespace_selector": f"{TEAM}=a"})],
    ids=["one", "several", "all", "by label"],
)
async def test_scope(
    api_server: ApiServer, admin: RestClient, namespaces: list[str], chosen: int, options: dict[str, Any]
) -> None:
    """The controller works in the chosen namespaces, the cache holds what is in them, and nothing of the others."""
    wanted = namespaces[:chosen]

    def made() -> list[str]:
        found = admin.get("/api/v1/configmaps", fieldSelector="metadata.name=place")["items"]
        return [name for name in namespaces if name in {item["metadata"]["namespace"] for item in found}]

    async with operating(PlaceReconciler(), api_server, "", **{"namespaces": tuple(wanted), **options}) as manager:
        await soon(lambda: made() == wanted, within=60)
        await soon(lambda: manager.idle)
        admin.apply(f"/api/v1/namespaces/{namespaces[2]}/configmaps/other", config_map("other", "x"))
        held = await manager.cache.reader.list(CONFIG_MAP)
        assert {item["metadata"]["namespace"] for item in held} & {*namespaces} == {*wanted}
        assert made() == wanted
