"""What ``create api --image`` makes, where Deployments really roll out, under its generated permissions."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.cli.app import run
from pyopscaffold.testing import eventually
from tests.cluster.envtest_helpers import exists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyopscaffold.testing import ApiServer
    from tests.simulated.workloads import Namespace

    StartOperator = Callable[..., AbstractContextManager[None]]

pytestmark = pytest.mark.xdist_group("simulated-image-operator")

GROUP = "image.example.com"
CRD = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/webs.{GROUP}"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
QUOTA = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "pods"}, "spec": {"hard": {"pods": "2"}}}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, cluster: ApiServer) -> Path:
    """Make a project from an image, and install its CRD."""
    folder = tmp_path_factory.mktemp("project") / "web-operator"
    folder.mkdir()
    options = ("--group", "image", "--version", "v1", "--kind", "Web", "--image", "example.com/web:1")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("VIRTUAL_ENV", sys.prefix)
        assert run(("init", "--domain", "example.com", "--namespaced")) == 0
        assert run(("create", "api", *options, "--port", "8080", "--port", "9090", "--run-as-user", "101")) == 0
        assert run(("generate",)) == 0
    client = cluster.client()
    client.apply(CRD, yaml.safe_load((folder / f"config/crd/bases/{GROUP}_webs.yaml").read_text()))
    eventually(lambda: exists(client, f"/apis/{GROUP}/v1/webs"))
    client.close()
    return folder


@pytest.fixture
def start_operator(made: Path, cluster: ApiServer, here: Namespace) -> StartOperator:
    """Give a function that runs the operator on the namespace, which enforces the restricted profile."""
    enforce = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    here.client.merge(f"/api/v1/namespaces/{here.name}", enforce)
    account = cluster.service_account(here.name, "operator")
    for role in yaml.safe_load_all((made / "config/rbac/role.yaml").read_text()):
        place = f"{RBAC}/namespaces/{here.name}"
        name = role["metadata"]["name"]
        binding = {
            "apiVersion": role["apiVersion"],
            "kind": "RoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": here.name}],
        }
        here.client.apply(f"{place}/roles/{name}", {**role, "metadata": {"name": name}})
        here.client.apply(f"{place}/rolebindings/{name}", binding)
    command = [sys.executable, "-m", "web_operator", "--namespace", here.name, "--log-format", "text"]
    command += ["--kubeconfig", str(cluster.kubeconfig(account, namespace=here.name))]
    command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]

    @contextmanager
    def start(**environment: str) -> Iterator[None]:
        process = subprocess.Popen(command, cwd=made, env={**os.environ, **environment})
        try:
            yield
        finally:
            process.terminate()
            assert process.wait(timeout=30) == 0

    return start


class Web:
    """The object of a test, and what is made for it."""

    def __init__(self, here: Namespace) -> None:
        self._here = here
        self.path = f"/apis/{GROUP}/v1/namespaces/{here.name}/webs/shop"

    def write(self, **spec: Any) -> None:
        """Apply it as its user."""
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Web", "metadata": {"name": "shop"}, "spec": spec}
        self._here.client.apply(self.path, body)

    def says(self, kind: str, reason: str) -> bool:
        """Whether a condition holds for this reason, and is about the newest spec."""
        found = self._here.client.get(self.path)
        wanted = (kind, "True", reason, found["metadata"]["generation"])
        conditions = found["status"].get("conditions", [])
        return wanted in [(one["type"], one["status"], one["reason"], one["observedGeneration"]) for one in conditions]

    def images(self) -> list[str]:
        """Name the images of all pods that are there."""
        return [one["spec"]["containers"][0]["image"] for one in self._here.items("pods")]

    def addresses(self) -> int:
        """Count the pods that the Service leads to."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{self._here.name}/endpointslices"
        ends = [end for item in self._here.client.get(path)["items"] for end in item.get("endpoints") or []]
        return sum(bool(end["conditions"].get("ready")) for end in ends)

    def events(self) -> set[str]:
        """Give the reasons of the events about it."""
        items = self._here.client.get(f"/apis/events.k8s.io/v1/namespaces/{self._here.name}/events")["items"]
        return {item["reason"] for item in items if item["regarding"]["kind"] == "Web"}

    def is_gone(self) -> bool:
        """Whether it is there no more."""
        return not exists(self._here.client, self.path)


def test_a_whole_life(here: Namespace, start_operator: StartOperator) -> None:
    """It rolls out behind its Service, is held up by a quota, gets a new image, and leaves no pod behind."""
    web = Web(here)
    with start_operator():
        web.write(replicas=2)
        eventually(lambda: web.says("Ready", "AllPodsAvailable"), within=60)
        assert web.images() == ["example.com/web:1"] * 2
        eventually(lambda: web.addresses() == 2)
        here.client.apply(f"/api/v1/namespaces/{here.name}/resourcequotas/pods", QUOTA)
        eventually(lambda: "hard" in here.client.get(f"/api/v1/namespaces/{here.name}/resourcequotas/pods")["status"])
        web.write(replicas=3)
        eventually(lambda: web.says("Reconciling", "ReplicaFailure"), within=60)
        here.client.delete(f"/api/v1/namespaces/{here.name}/resourcequotas/pods")
        web.write(replicas=2)
        eventually(lambda: web.says("Ready", "AllPodsAvailable"), within=60)
    with start_operator(WEB_IMAGE="mirror.example.com/web:2"):
        eventually(lambda: "ImageChanged" in web.events(), within=60)
        eventually(lambda: web.images() == ["mirror.example.com/web:2"] * 2, within=60)
        eventually(lambda: web.says("Ready", "AllPodsAvailable"))
        here.client.delete(web.path)
        eventually(web.is_gone, within=60)
        assert web.images() == []
        assert {"Created", "Scaled", "ImageChanged"} <= web.events()
        eventually(lambda: "Stopped" in web.events())


def test_orphans_keep_running(here: Namespace, start_operator: StartOperator) -> None:
    """Who deletes with --cascade=orphan keeps Deployment, Service and pods, which nobody owns then."""
    web = Web(here)
    with start_operator():
        web.write()
        eventually(lambda: web.says("Ready", "AllPodsAvailable"), within=60)
        here.client.delete(web.path, policy="Orphan")
        eventually(web.is_gone, within=60)
        (child,) = here.items("deployments")
        assert "ownerReferences" not in child["metadata"]
        assert child["status"]["availableReplicas"] == 1
        assert [one["metadata"]["name"] for one in here.items("services")] == ["shop"]
