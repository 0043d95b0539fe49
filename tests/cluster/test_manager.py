"""The manager in this process, against a real API server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.api import controller
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime import Context, Reconciler, Result
from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.manager import LeadershipLostError
from tests.cluster.widgets import (
    GROUP,
    Cluster,
    Widget,
    WidgetReconciler,
    begin,
    config_map,
    endpoint,
    operating,
    scrape,
    soon,
)

if TYPE_CHECKING:
    from pyopscaffold.testing import ApiServer

HEALTH, LEASE_NAME = "--health-probe-bind-address", f"widget.{GROUP}"


async def test_health_and_metrics_are_served(api_server: ApiServer, cluster: Cluster) -> None:
    """The endpoints answer, readiness follows the caches, and the metrics have controller-runtime's names."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace) as manager:
        await soon(lambda: manager.ports)
        await soon(lambda: manager.ready)
        assert endpoint(manager, HEALTH, "/healthz") == (200, "ok\n")
        assert endpoint(manager, HEALTH, "/readyz") == (200, "ok\n")
        assert endpoint(manager, HEALTH, "/other")[0] == 404
        cluster.apply("one")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True")
        await soon(lambda: scrape(manager)['controller_runtime_active_workers{controller="widget"}'] == 0)
        metrics = scrape(manager)
    assert metrics['controller_runtime_max_concurrent_reconciles{controller="widget"}'] == 2
    assert metrics['controller_runtime_reconcile_total{controller="widget",result="success"}'] >= 1
    assert metrics['controller_runtime_reconcile_errors_total{controller="widget"}'] == 0
    assert metrics['workqueue_adds_total{controller="widget",name="widget"}'] >= 1
    names = {name.partition("{")[0] for name in metrics}
    assert names >= {
        "controller_runtime_reconcile_time_seconds_bucket",
        "workqueue_depth",
        "workqueue_longest_running_processor_seconds",
        "workqueue_queue_duration_seconds_count",
        "workqueue_unfinished_work_seconds",
        "workqueue_work_duration_seconds_sum",
        "rest_client_requests_total",
        "process_resident_memory_bytes",
    }


async def test_running_reconcile_ends_before_the_manager_does(api_server: ApiServer, cluster: Cluster) -> None:
    """When the manager is stopped, a reconcile under way is finished, its status written, and no other begun."""
    started = asyncio.Event()

    @controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
    class Finishing(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            started.set()
            await asyncio.sleep(0.3)
            await ctx.apply(config_map(obj.metadata.name, "done"))
            return Result()

    async with operating(Finishing(), api_server, cluster.namespace):
        cluster.apply("one")
        await started.wait()
        cluster.apply("two")
    assert cluster.config_map("one")["data"] == {"text": "done"}
    assert cluster.state("one", "Ready") == ("True", "Reconciled")
    assert not cluster.exists(cluster.config_map_path("two"))


async def test_two_operators_at_once_do_not_fight(api_server: ApiServer, cluster: Cluster) -> None:
    """Without leader election two replicas come to rest: the same writes, by the same field manager, change nothing."""
    first, second = WidgetReconciler(), WidgetReconciler()
    async with (
        operating(first, api_server, cluster.namespace),
        operating(second, api_server, cluster.namespace),
    ):
        for name in ("one", "two", "three"):
            cluster.apply(name, text="hi")
        await soon(lambda: all(cluster.state(name, "Ready")[0] == "True" for name in ("one", "two", "three")))
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "edited"}})
        await soon(lambda: cluster.config_map("one")["data"] == {"text": "hi"})
        await soon(lambda: first.quiet() and second.quiet())
        writes = cluster.writes(api_server)
        versions = [cluster.widget(name)["metadata"]["resourceVersion"] for name in ("one", "two", "three")]
    assert first.seen
    assert second.seen
    assert len(writes) <= 2 * (2 * 3 + 1) + 3  # each: child and status of three, one restored; and races, once each
    assert versions == [cluster.widget(name)["metadata"]["resourceVersion"] for name in ("one", "two", "three")]


async def test_only_the_leader_acts(api_server: ApiServer, cluster: Cluster) -> None:
    """Of two replicas with leader election one acts; when it stops, the other takes over without the lease's end."""
    election: dict[str, Any] = {
        "leader_elect": True,
        "leader_election_namespace": cluster.namespace,
        "leader_election_lease_duration": 60,  # three times as long as any wait below
    }
    first, second = WidgetReconciler(), WidgetReconciler()
    async with AsyncExitStack() as stopping:
        leader = await stopping.enter_async_context(operating(first, api_server, cluster.namespace, **election))
        await soon(lambda: leader.leading)
        async with operating(second, api_server, cluster.namespace, **election) as follower:
            await soon(lambda: follower.ready)
            cluster.apply("one")
            await soon(lambda: cluster.state("one", "Ready")[0] == "True")
            assert (follower.leading, second.seen) == (False, [])
            assert scrape(leader)[f'leader_election_master_status{{name="{LEASE_NAME}"}}'] == 1
            assert scrape(follower)[f'leader_election_master_status{{name="{LEASE_NAME}"}}'] == 0
            await stopping.aclose()
            await soon(lambda: follower.leading)
            await soon(lambda: "one" in second.seen)


async def test_a_waiting_replica_stops_at_once(api_server: ApiServer, cluster: Cluster) -> None:
    """A replica that waits for the lease can be stopped, and leaves the lease to its holder."""
    election: dict[str, Any] = {"leader_elect": True, "leader_election_namespace": cluster.namespace}
    path = f"/apis/coordination.k8s.io/v1/namespaces/{cluster.namespace}/leases/{LEASE_NAME}"
    async with operating(WidgetReconciler(), api_server, cluster.namespace, **election) as leader:
        await soon(lambda: leader.leading)
        holder = cluster.client.get(path)["spec"]["holderIdentity"]
        follower, running = begin(WidgetReconciler(), api_server, cluster.namespace, **election)
        await soon(lambda: follower.ready)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(running, 60)
        assert cluster.client.get(path)["spec"]["holderIdentity"] == holder
    assert cluster.client.get(path)["spec"].get("holderIdentity", "") == ""


async def test_the_lease_is_held_until_the_work_has_ended(api_server: ApiServer, cluster: Cluster) -> None:
    """While the last reconcile ends, the lease is renewed: nobody else may begin before."""
    election: dict[str, Any] = {"leader_elect": True, "leader_election_namespace": cluster.namespace}
    path = f"/apis/coordination.k8s.io/v1/namespaces/{cluster.namespace}/leases/{LEASE_NAME}"
    started = asyncio.Event()
    renewals: set[str] = set()

    @controller(Widget, timeout=30.0)
    class Long(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            started.set()
            stopped = asyncio.get_running_loop().time()
            while len(renewals) < 2 and asyncio.get_running_loop().time() < stopped + 10:
                spec = cluster.client.get(path)["spec"]
                assert spec["holderIdentity"]
                renewals.add(spec["renewTime"])
                await asyncio.sleep(0.1)
            return Result()

    cluster.apply("one")
    async with operating(Long(), api_server, cluster.namespace, **election):
        await started.wait()
        renewals.clear()
    assert len(renewals) == 2
    assert cluster.state("one", "Ready") == ("True", "Reconciled")
    assert cluster.client.get(path)["spec"].get("holderIdentity", "") == ""


async def test_a_lost_lease_ends_the_manager(api_server: ApiServer, cluster: Cluster) -> None:
    """When another holder stands in the lease, the manager breaks off its work and says so."""
    broken_off: list[str] = []

    @controller(Widget, timeout=60.0)
    class Endless(Reconciler[Widget]):
        async def reconcile(self, ctx: Context, obj: Widget) -> Result:
            try:
                await asyncio.Future()
            except asyncio.CancelledError:
                broken_off.append(obj.metadata.name)
                raise
            return Result()

    cluster.apply("one")
    election: dict[str, Any] = {"leader_elect": True, "leader_election_namespace": cluster.namespace}
    path = f"/apis/coordination.k8s.io/v1/namespaces/{cluster.namespace}/leases/{LEASE_NAME}"
    manager, running = begin(Endless(), api_server, cluster.namespace, **election)
    await soon(lambda: manager.leading)
    await soon(lambda: scrape(manager)['controller_runtime_active_workers{controller="widget"}'] == 1)
    cluster.client.merge(path, {"spec": {"holderIdentity": "thief"}})
    with pytest.raises(LeadershipLostError):
        await asyncio.wait_for(running, 45)
    assert cluster.client.get(path)["spec"]["holderIdentity"] == "thief"
    assert broken_off == ["one"]


def rules(*, finalizer: bool) -> list[dict[str, Any]]:
    """Copy the table "Permissions" of docs/runtime.md."""
    primary = ["list", "watch", *(["patch"] if finalizer else [])]
    return [
        {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": primary},
        {"apiGroups": [GROUP], "resources": ["widgets/status"], "verbs": ["patch"]},
        {"apiGroups": [GROUP], "resources": ["widgets/finalizers"], "verbs": ["update"]},
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "verbs": ["list", "watch", "create", "patch", "delete"],
        },
        {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "patch"]},
    ]


@controller(Widget, owns=[CONFIG_MAP], timeout=5.0)
class Thorough(Reconciler[Widget]):
    """Uses all that a reconciler may."""

    async def reconcile(self, ctx: Context, obj: Widget) -> Result:
        """Apply, prune and record."""
        await ctx.prune(kept=[await ctx.apply(config_map(obj.spec.text, "x"))])
        ctx.event("Normal", "Done", "it is done")
        return Result()

    async def finalize(self, ctx: Context, obj: Widget) -> None:
        """Delete the child."""
        await ctx.delete(CONFIG_MAP, obj.spec.text)


async def test_documented_permissions_are_enough(api_server: ApiServer, cluster: Cluster) -> None:
    """An operator with no more than the documented verbs does all its work, and is refused nothing."""
    account, namespace = api_server.service_account(cluster.namespace, "operator"), cluster.namespace
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "operator"}}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "operator"}
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": namespace}
    cluster.client.apply(f"{path}/roles/operator", {**head, "kind": "Role", "rules": rules(finalizer=True)})
    cluster.client.apply(
        f"{path}/rolebindings/operator", {**head, "kind": "RoleBinding", "roleRef": role, "subjects": [subject]}
    )
    options = {"leader_elect": True, "leader_election_namespace": namespace}
    config = load(api_server.kubeconfig(account))
    async with operating(Thorough(), api_server, namespace, config=config, **options):
        cluster.apply("one", text="first")
        await soon(lambda: cluster.config_map("first"))
        cluster.apply("one", text="second")
        await soon(lambda: not cluster.exists(cluster.config_map_path("first")))
        await soon(lambda: cluster.events("one")[0].get("series"))
        cluster.client.delete(cluster.widget_path("one"))
        await soon(lambda: not cluster.exists(cluster.widget_path("one")))
        assert not cluster.exists(cluster.config_map_path("second"))
    records = api_server.audit_log.records(user=account.user)
    assert [record for record in records if record.code in {401, 403}] == []
    used = {(r.group, "/".join(filter(None, (r.resource, r.subresource))), r.verb) for r in records if r.resource}
    granted = {
        (group, resource, verb)
        for rule in rules(finalizer=True)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert used <= granted
    unused = {("", "configmaps", "get"), ("", "configmaps", "create"), (GROUP, "widgets", "get")}
    unused |= {(GROUP, "widgets/finalizers", "update"), (GROUP, "widgets", "list"), ("", "configmaps", "list")}
    assert granted - used <= unused
