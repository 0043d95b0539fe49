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
        kinds: dict[str, dict[str, Any]] = {
            "roles": {"rules": rules},
            "rolebindings": {"roleRef": self._reference, "subjects": [self._subject]},
        }
        for plural, body in kinds.items():
            path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.cluster.namespace}/{plural}/{ACCOUNT}"
            kind = {"roles": "Role", "rolebindings": "RoleBinding"}[plural]
            head = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": ACCOUNT}}
            self.cluster.client.apply(path, {**head, **body})

    @property
    def _reference(self) -> dict[str, str]:
        return {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}

    @property
    def _subject(self) -> dict[str, str]:
        return {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": self.cluster.namespace}


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
        started, before = time.monotonic(), len(api_server.audit_log.records(user=account.user))
        cluster.apply("one", text="meanwhile")
        await soon(lambda: len(refused(api_server, account.user, "patch")) >= 5, within=60)
        informers = [manager.cache.informer(kind) for kind in (Widget, CONFIG_MAP)]
        for informer in informers:
            informer.relist()
        await soon(lambda: all(informer.failure for informer in informers), within=60)
        cluster.apply("two")
        cluster.client.merge(cluster.config_map_path("one"), {"data": {"text": "by hand"}})
        assert manager.ready
        assert "is forbidden" in str(informers[0].failure)
        assert any("is forbidden" in str(vars(record)) for record in caplog.records)
        doubled = math.log2(1 + (time.monotonic() - started) / 0.005)
        # a child or status for each try, four lists or watches, and the events of what nobody hears
        assert len(api_server.audit_log.records(user=account.user)) - before <= 2 * doubled + 4
        role.grant(RULES)
        for name, text in (("one", "meanwhile"), ("two", "hello")):
            await soon(lambda name=name, text=text: cluster.config_map(name)["data"] == {"text": text}, within=90)  # type: ignore[misc]  # bound now
            await soon(lambda name=name: cluster.state(name, "Ready")[0] == "True", within=90)  # type: ignore[misc]  # bound now
        assert cluster.widget("one")["status"]["observedGeneration"] == 2
        assert [informer.failure for informer in informers] == [None, None]


def refused(server: ApiServer, user: str, verb: str) -> list[Any]:
    """Return the refused requests of a user, by their verb."""
    return [record for record in server.audit_log.records(user=user) if (record.code, record.verb) == (403, verb)]
