"""The chart's life on a real API server: install, upgrade, uninstall."""

from __future__ import annotations

import contextlib
import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import NotFound
from pyopscaffold.testing import eventually
from tests.helm.projects import HARD_TEXT, MODEL, PROJECT, made, write
from tests.tools_path import tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer
    from pyopscaffold.testing.plugin import ControlPlanes
    from pyopscaffold.testing.rest import RestClient

    Helm = Callable[..., str]

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.sales.example.com"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture(scope="module")
def server(control_planes: ControlPlanes) -> ApiServer:
    """Give an API server of this module's own: CRDs belong to a whole cluster."""
    return control_planes().server


@pytest.fixture(scope="module")
def client(server: ApiServer) -> Iterator[RestClient]:
    """Give the admin's client."""
    client = server.client()
    yield client
    client.close()


@pytest.fixture
def helm(server: ApiServer, client: RestClient, chart: Path, tmp_path: Path) -> Iterator[Helm]:
    """Give a function that runs helm as admin in namespace ``ns``; afterwards the cluster is as before."""
    homes = {f"HELM_{name}_HOME": str(tmp_path) for name in ("CACHE", "CONFIG", "DATA")}
    flags = ["--namespace", "ns", "--kubeconfig", str(server.kubeconfig())]

    def run(*arguments: str | Path) -> str:
        command = [tool("helm"), *arguments, *flags]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **homes})
        assert result.returncode == 0, result.stderr
        return result.stdout

    yield run
    run("uninstall", "rel", "--ignore-not-found")
    with contextlib.suppress(NotFound):
        client.delete(CRD)
    eventually(lambda: not exists(client, CRD))


def exists(client: RestClient, path: str) -> bool:
    """Tell whether the API server has an object."""
    try:
        client.get(path)
    except NotFound:
        return False
    return True


def test_install_brings_everything(helm: Helm, chart: Path, client: RestClient) -> None:
    """CRD, permissions, identity and Deployment are there, and the release says where to look."""
    notes = helm("install", "rel", chart, "--create-namespace")
    schema = client.get(CRD)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"]["properties"]["sign"]["description"] == HARD_TEXT
    for path in (
        f"{ROLES}/rel-shop-operator",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/rel-shop-operator",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles/rel-shop-operator-leader",
        "/api/v1/namespaces/ns/serviceaccounts/rel-shop-operator",
        "/api/v1/namespaces/ns/services/rel-shop-operator-metrics",
        "/apis/apps/v1/namespaces/ns/deployments/rel-shop-operator",
    ):
        assert exists(client, path), path
    assert "kubectl -n ns rollout status deployment/rel-shop-operator" in notes
    assert "all namespaces" in notes


def test_installed_operator_may_do_its_work_and_no_more(
    helm: Helm, chart: Path, client: RestClient, server: ApiServer
) -> None:
    """The ServiceAccount reads shops and applies Deployments everywhere, elects its leader at home, reads no Secret."""
    helm("install", "rel", chart, "--create-namespace")
    questions = {
        ("list", "shops.sales.example.com", "--all-namespaces"): True,
        ("create", "deployments.apps", "--namespace=other"): True,
        ("patch", "leases.coordination.k8s.io/rel-shop-operator-leader", "--namespace=ns"): True,
        ("patch", "leases.coordination.k8s.io/rel-shop-operator-leader", "--namespace=other"): False,
        ("patch", "leases.coordination.k8s.io/other", "--namespace=ns"): False,
        ("get", "secrets", "--namespace=ns"): False,
        ("delete", "shops.sales.example.com", "--namespace=ns"): False,
    }
    assert {question: _may(server, *question) for question in questions} == questions


def test_operator_of_one_namespace_may_act_there_only(
    helm: Helm, chart: Path, client: RestClient, server: ApiServer
) -> None:
    """Where it is told to watch one namespace, it has no permission in any other, its own included."""
    client.create("/api/v1/namespaces", {"metadata": {"name": "blue"}})
    helm("install", "rel", chart, "--create-namespace", "--set", "watchNamespace=blue")
    namespaces = {"--namespace=blue": True, "--namespace=ns": False, "--all-namespaces": False}
    assert {where: _may(server, "list", "shops.sales.example.com", where) for where in namespaces} == namespaces


def _may(server: ApiServer, *question: str) -> bool:
    kubectl: list[str | Path] = [server.kubectl, "--kubeconfig", server.kubeconfig()]
    who = "--as=system:serviceaccount:ns:rel-shop-operator"
    command = [*kubectl, "auth", "can-i", who, *question]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    answer = run.stdout.strip()
    assert answer in {"yes", "no"}, run.stderr
    return answer == "yes"


def test_upgrade_changes_crd_and_operator(helm: Helm, chart: Path, client: RestClient, tmp_path: Path) -> None:
    """A new version of the chart brings its CRDs, which Helm's own crds folder would not, and the values' changes."""
    helm("install", "rel", chart, "--create-namespace")
    newer = replace(MODEL, kinds=tuple(replace(kind, short_names=("sh", "store")) for kind in MODEL.kinds))
    helm("upgrade", "rel", write(made(newer), tmp_path / "newer") / "charts" / PROJECT.name, "--set", "image.tag=2.0.0")
    assert client.get(CRD)["spec"]["names"]["shortNames"] == ["sh", "store"]
    deployment = client.get("/apis/apps/v1/namespaces/ns/deployments/rel-shop-operator")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "example/shop-operator:2.0.0"


@pytest.mark.parametrize("keep", [True, False])
def test_uninstall_leaves_crds_if_told_to(helm: Helm, chart: Path, client: RestClient, *, keep: bool) -> None:
    """With crds.keep the CRD, and the custom resources with it, outlive the release; all else goes."""
    helm("install", "rel", chart, "--create-namespace", "--set", f"crds.keep={str(keep).lower()}")
    helm("uninstall", "rel", "--wait", "--timeout=30s")
    assert exists(client, CRD) is keep
    assert not exists(client, "/apis/apps/v1/namespaces/ns/deployments/rel-shop-operator")
    assert not exists(client, f"{ROLES}/rel-shop-operator")


def test_kept_crds_are_taken_up_again(helm: Helm, chart: Path, client: RestClient) -> None:
    """The release can be installed again over the CRDs that it has left."""
    helm("install", "rel", chart, "--create-namespace")
    helm("uninstall", "rel")
    helm("install", "rel", chart)
    assert exists(client, CRD)


def test_api_server_takes_every_manifest(helm: Helm, chart: Path, server: ApiServer, client: RestClient) -> None:
    """Strict server-side apply (a dry run) has no objection to anything the chart renders, its test Pod included."""
    client.create("/api/v1/namespaces", {"metadata": {"name": "strict"}})
    values = ["--set", "watchNamespace=strict", "--set", "metrics.service.type=NodePort", "--set", "replicaCount=2"]
    for options in ([], values):
        text = helm("template", "rel", chart, *options).replace('namespace: "ns"', "namespace: strict")
        command: list[str | Path] = [server.kubectl, "--kubeconfig", server.kubeconfig(), "apply", "--server-side"]
        strict = ["--dry-run=server", "--validate=strict", "-f", "-"]
        run = subprocess.run([*command, *strict], input=text, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout.count("serverside-applied") == text.count("\nkind: ")
