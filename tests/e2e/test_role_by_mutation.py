"""The generated role of the example, proved: nothing in it can be missing, and nothing is missing in it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.testing import eventually, proof
from pyopscaffold.testing.rbac import compare, permissions
from tests.e2e.mydatabase_cluster import EXAMPLE
from tests.e2e.role_mutation import Life, Tail, life

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pyopscaffold.runtime.manager import Manager
    from pyopscaffold.testing import ApiServer
    from pyopscaffold.testing.rbac import Permission

pytestmark = pytest.mark.xdist_group("e2e-role")

AT_ONCE = 6
ROLES = proof.read(EXAMPLE)
GRANTED = permissions(ROLES.granted)
LEADING = tuple(one for one in permissions(ROLES.elsewhere) if one.resource == "leases")


@pytest.fixture(scope="module")
def server(control_planes: Callable[..., Any]) -> ApiServer:
    """Give an API server with the example's CRD, which checks owner references as the strictest do."""
    plane = control_planes(audit=True, admission_plugins=["OwnerReferencesPermissionEnforcement"])
    started: ApiServer = plane.server
    client = started.client()
    for path in sorted((EXAMPLE / "config/crd/bases").glob("*.yaml")):
        crd = yaml.safe_load(path.read_text())
        client.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}", crd)
    eventually(lambda: client.get("/apis/example.com/v1/mydatabases")["items"] == [])
    # The plugin refuses everybody an owner of a kind that it has not heard of, which may take half a minute.
    owner = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "name": "db", "uid": "1", "blockOwnerDeletion": True}
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe", "ownerReferences": [owner]}}
    eventually(lambda: client.create("/api/v1/namespaces/default/configmaps", child), within=60)
    client.close()
    return started


@pytest.fixture
async def tail(server: ApiServer) -> AsyncIterator[Tail]:
    """Follow the audit log."""
    found = Tail(server)
    following = asyncio.create_task(found.follow())
    yield found
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


@pytest.fixture
def make_manager(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Manager]:
    """Give a function that makes the example's manager, for a kubeconfig and a namespace."""
    monkeypatch.syspath_prepend(EXAMPLE)
    from mydatabase.controllers.my_database import MyDatabaseReconciler  # noqa: PLC0415 - on the path by now

    from pyopscaffold.runtime.manager import Manager  # noqa: PLC0415 - aiohttp is for this test only
    from pyopscaffold.runtime.options import Options  # noqa: PLC0415 - beside it

    def make(kubeconfig: Path, namespace: str, *, lease: str = "") -> Manager:
        options = Options(
            kubeconfig=kubeconfig,
            namespaces=(namespace,),
            metrics_bind_address="0",
            health_probe_bind_address="0",
            leader_elect=bool(lease),
            leader_election_id=lease,
            leader_election_namespace=namespace,
        )
        return Manager([MyDatabaseReconciler], options=options)

    return make


async def test_the_whole_role_is_exact(server: ApiServer, tail: Tail, make_manager: Callable[..., Manager]) -> None:
    """Under the generated role the whole life goes well, nothing is refused, and nothing is unused."""
    whole = await life(server, tail, "whole", GRANTED, make_manager)
    assert whole.failed_at == ""
    found = compare(ROLES.granted, whole.records, plurals=ROLES.plurals, elsewhere=ROLES.elsewhere)
    assert proof.describe(found) == []
    assert found.least == ROLES.granted


async def test_nothing_can_be_taken_away(server: ApiServer, tail: Tail, make_manager: Callable[..., Manager]) -> None:
    """Without any one (rule, verb) the operator is refused just that, and its work is not done."""
    free = asyncio.Semaphore(AT_ONCE)

    async def without(number: int) -> Life:
        rest = [permission for permission in GRANTED if permission != GRANTED[number]]
        async with free:
            return await life(server, tail, f"without-{number}", rest, make_manager)

    lives = await asyncio.gather(*map(without, range(len(GRANTED))))
    missing = {str(permission): one for permission, one in zip(GRANTED, lives, strict=True)}
    assert {name: sorted(map(str, one.refused)) for name, one in missing.items()} == {name: [name] for name in missing}
    assert [name for name, one in missing.items() if not one.failed_at] == []


async def test_nothing_can_be_taken_from_the_leaders_role(
    server: ApiServer, tail: Tail, make_manager: Callable[..., Manager]
) -> None:
    """With leader election the same holds for the role of the lease."""
    (lease,) = {permission.name for permission in LEADING if permission.name}
    make_leader = partial(make_manager, lease=lease)

    async def without(missing: Permission | None) -> Life:
        rest = [permission for permission in (*GRANTED, *LEADING) if permission != missing]
        namespace = f"leader-without-{missing.verb if missing else 'nothing'}"
        return await life(server, tail, namespace, rest, make_leader, of=Life.of_a_leader)

    whole, *lives = await asyncio.gather(*map(without, (None, *LEADING)))
    assert (whole.failed_at, whole.refused) == ("", set())
    assert [one.refused for one in lives] == [{replace(permission, name="")} for permission in LEADING]
    assert [permission.verb for permission, one in zip(LEADING, lives, strict=True) if not one.failed_at] == []
