"""Permissions that are taken away while the operator runs, and given back, on a real API server."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime.client.config import load
from tests.cluster.widgets import GROUP, Cluster, Widget, WidgetReconciler, operating, soon

if TYPE_CHECKING:
    import pytest

    from pyopscaffold.testing import ApiServer

ACCOUNT = "operator"
RULES: list[dict[str, Any]] = [
    {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list", "watch"]},
    {"apiGroups": [GROUP], "resources": ["widgets/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch", "create", "patch", "delete"]},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
]


@dataclass
class Role:
    """What the operator's account may do in the test's namespace."""

    cluster: Cluster

    def grant(self, rules: list[dict[str, Any]]) -> None:
        """Have it be just this."""
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": self.cluster.namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}
        self._apply("Role", rules=rules)
        self._apply("RoleBinding", roleRef=reference, subjects=[subject])

    def _apply(self, kind: str, **content: Any) -> None:
        head = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": ACCOUNT}}
        namespace = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.cluster.namespace}"
        self.cluster.client.apply(f"{namespace}/{kind.lower()}s/{ACCOUNT}", {**head, **content})


async def test_permissions_go_and_come_back(
    api_server: ApiServer, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """What is refused is logged, and asked for at growing delays; all goes on once it is allowed again."""
    role = Role(cluster)
    account = api_server.service_account(cluster.namespace, ACCOUNT)
    role.grant(RULES)
    config = load(api_server.kubeconfig(account, namespace=cluster.namespace))
    async with operating(WidgetReconciler(), api_server, cluster.namespace, config=config) as manager:
        cluster.apply("one", text="before")
        await soon(lambda: cluster.state("one", "Ready")[0] == "True", within=60)
        role.grant([])
        started = time.monotonic()
        cluster.apply("one", text="meanwhile")
        await soon(lambda: sum("is forbidden" in str(vars(record)) for record in caplog.records) >= 5, within=60)
        informers = [manager.cache.informer(kind) for kind in (Widget, CONFIG_MAP)]
        for informer in informers:
            informer.relist()
        await soon(lambda: all(informer.failure for informer in informers), within=60)
        cluster.apply("two")
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "by hand"}})
        assert manager.ready
        assert "is forbidden" in str(informers[0].failure)
        doubled = math.log2(1 + (time.monotonic() - started) / 0.005)
        refused = [record for record in api_server.audit_log.records(user=account.user) if record.code == 403]
        # child and status for each try, lists and watches
        assert len(refused) <= 2 * doubled + 8
        role.grant(RULES)
        for name, text in (("one", "meanwhile"), ("two", "hello")):
            await soon(lambda name=name, text=text: cluster.config_map(name)["data"] == {"text": text}, within=90)  # type: ignore[misc]  # bound now
            await soon(lambda name=name: cluster.state(name, "Ready")[0] == "True", within=90)  # type: ignore[misc]  # bound now
        assert cluster.widget("one")["status"]["observedGeneration"] == 2
        await soon(lambda: all(informer.failure is None for informer in informers), within=90)
