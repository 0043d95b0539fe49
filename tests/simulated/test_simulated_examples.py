"""The examples where Deployments roll out and Jobs run, under generated permissions and the restricted profile."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from examples.remake import ORDERFULFILLMENT, REDISCLUSTER
from pyopscaffold.testing import eventually
from tests.cluster.envtest_helpers import exists

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from examples.remake import Example
    from pyopscaffold.testing import ApiServer
    from tests.simulated.workloads import Namespace

pytestmark = pytest.mark.xdist_group("simulated-examples")

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DELIVERED = {"metadata": {"annotations": {"orders.example.com/delivered": "true"}}}


class Running:
    """An example's operator at work in a namespace, and the object of its sample there."""

    def __init__(self, here: Namespace, path: str, sample: dict[str, Any]) -> None:
        self.here = here
        self.path = path
        self._sample = sample

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self._sample["metadata"]["name"])

    def write(self, **spec: Any) -> None:
        """Apply the sample as its user, with these changes of its spec."""
        self.here.client.apply(self.path, {**self._sample, "spec": {**self._sample["spec"], **spec}}, manager="user")

    def says(self, reason: str) -> bool:
        """Whether it is Ready for this reason, and that is about the newest spec."""
        found = self.here.client.get(self.path)
        wanted = ("Ready", "True", reason, found["metadata"]["generation"])
        conditions = found["status"].get("conditions", [])
        return wanted in [(one["type"], one["status"], one["reason"], one["observedGeneration"]) for one in conditions]

    def leftovers(self, *plurals: str) -> list[str]:
        """Name what there is of these kinds, but what each namespace has."""
        found = [(plural, one["metadata"]["name"]) for plural in plurals for one in self.here.items(plural)]
        return [f"{plural}/{name}" for plural, name in found if name != "kube-root-ca.crt"]


def install(here: Namespace, folder: Path) -> dict[str, Any]:
    """Apply an example's CRD and, for the account ``operator`` of the namespace, its role; give its sample."""
    client = here.client
    (crd,) = (yaml.safe_load(file.read_text()) for file in (folder / "config/crd/bases").iterdir())
    client.apply(f"{CRDS}/{crd['metadata']['name']}", crd)
    (sample,) = (yaml.safe_load(file.read_text()) for file in (folder / "config/samples").glob("*_*.yaml"))
    eventually(lambda: exists(client, f"/apis/{sample['apiVersion']}/{crd['spec']['names']['plural']}"))
    enforce = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    client.merge(f"/api/v1/namespaces/{here.name}", enforce)
    role = yaml.safe_load((folder / "config/rbac/role.yaml").read_text())
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": "RoleBinding",
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "operator"},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": here.name}],
    }
    place = f"{RBAC}/namespaces/{here.name}"
    client.apply(f"{place}/roles/operator", {**role, "kind": "Role", "metadata": {"name": "operator"}})
    client.apply(f"{place}/rolebindings/operator", binding)
    path = f"/apis/{sample['apiVersion']}/namespaces/{here.name}/{crd['spec']['names']['plural']}"
    return {"sample": sample, "path": f"{path}/{sample['metadata']['name']}"}


@contextmanager
def running(cluster: ApiServer, here: Namespace, example: Example) -> Iterator[Running]:
    """Run an example's operator on the namespace; it must end well, and nothing may have been refused to it."""
    installed = install(here, example.root)
    account = cluster.service_account(here.name, "operator")
    command = [sys.executable, "-m", example.name, "--namespace", here.name, "--log-format", "text"]
    command += ["--kubeconfig", str(cluster.kubeconfig(account, namespace=here.name))]
    command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
    process = subprocess.Popen(command, cwd=example.root)
    try:
        yield Running(here, **installed)
    finally:
        process.terminate()
        code = process.wait(timeout=30)
    assert code == 0
    assert [record for record in cluster.audit_log.records(user=account.user) if record.code in {401, 403}] == []


def test_an_order_is_picked_by_a_job_that_runs(cluster: ApiServer, here: Namespace) -> None:
    """The Job's pod runs to its end, which ships the order; deleted, the order takes all that was made for it along."""
    with running(cluster, here, ORDERFULFILLMENT) as order:
        order.write()
        eventually(lambda: order.says("Shipped"), within=60)
        (job,), (pod,) = here.items("jobs"), here.items("pods")
        assert job["status"]["succeeded"] == 1
        (slip,) = (volume for volume in pod["spec"]["volumes"] if volume["name"] == "slip")
        assert exists(here.client, here.path("configmaps", slip["configMap"]["name"]))
        here.client.merge(order.path, DELIVERED)
        eventually(lambda: order.says("Delivered"))
        here.client.delete(order.path)
        eventually(lambda: order.leftovers("jobs", "pods", "configmaps") == [], within=60)


def test_caches_roll_out_and_keep_their_password(cluster: ApiServer, here: Namespace) -> None:
    """Pods of a new version replace the old ones behind the Service; the Secret stays, and goes with the cluster."""
    with running(cluster, here, REDISCLUSTER) as cache:
        secret = here.path("secrets", f"{cache.name}-redis")
        cache.write(version="7.4", replicas=2)
        eventually(lambda: cache.says("AllPodsReady"), within=60)
        before = here.client.get(secret)
        cache.write(version="8.2", replicas=3)
        eventually(lambda: cache.says("AllPodsReady"), within=60)
        eventually(lambda: len(here.items("pods")) == 3)
        assert {pod["spec"]["containers"][0]["image"] for pod in here.items("pods")} == {"redis:8.2"}
        assert here.client.get(secret) == before
        here.client.delete(cache.path)
        eventually(lambda: cache.leftovers("deployments", "pods", "services", "secrets") == [], within=60)


def test_a_lost_password_is_replaced_at_the_next_look(cluster: ApiServer, here: Namespace) -> None:
    """The operator does not watch Secrets, but has one made whenever it looks."""
    with running(cluster, here, REDISCLUSTER) as cache:
        secret = here.path("secrets", f"{cache.name}-redis")
        cache.write()
        eventually(lambda: cache.says("AllPodsReady"), within=60)
        before = here.client.get(secret)["data"]
        here.client.delete(secret)
        cache.write(replicas=2)
        eventually(lambda: exists(here.client, secret))
        assert here.client.get(secret)["data"] != before
