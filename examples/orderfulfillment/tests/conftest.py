"""Fixtures: the operator as a process of its own, against a real API server, with the generated permissions only."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pyopscaffold.testing import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer

CONFIG = Path(__file__).parent.parent / "config"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def manifests(pattern: str) -> list[dict[str, Any]]:
    """Read the YAML documents of the files under config/ that match."""
    files = sorted(CONFIG.glob(pattern))
    return [document for file in files for document in yaml.safe_load_all(file.read_text())]


@pytest.fixture(scope="session")
def crds(api_server: ApiServer) -> None:
    """Install the project's CRDs, and wait until their kinds are served."""
    client = api_server.client()
    for crd in manifests("crd/bases/*.yaml"):
        client.apply(f"{CRDS}/{crd['metadata']['name']}", crd)
        spec = crd["spec"]
        for version in spec["versions"]:
            kind = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            eventually(partial(client.get, kind))


@pytest.fixture
def operator_kubeconfig(api_server: ApiServer, namespace: str) -> Path:
    """Give a service account what config/rbac/role.yaml grants; its kubeconfig."""
    client = api_server.client()
    account = api_server.service_account(namespace, "operator")
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": namespace}
    for role in manifests("rbac/role.yaml"):
        kind, name = role["kind"], f"{namespace}-{role['metadata']['name']}"
        place = f"{RBAC}/namespaces/{namespace}" if kind == "Role" else RBAC
        role["metadata"] = {"name": name}
        binding = {
            "apiVersion": role["apiVersion"],
            "kind": f"{kind}Binding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [subject],
        }
        client.apply(f"{place}/{kind.lower()}s/{name}", role)
        client.apply(f"{place}/{kind.lower()}bindings/{name}", binding)
    return api_server.kubeconfig(account, namespace=namespace)


@pytest.fixture
def operator(crds: None, operator_kubeconfig: Path, namespace: str) -> Iterator[None]:
    """Run the operator on the test's namespace; it must end well."""
    command = [sys.executable, "-m", "orderfulfillment"]
    command += ["--kubeconfig", str(operator_kubeconfig), "--namespace", namespace, "--log-format", "text"]
    command += ["--metrics-bind-address", "0", "--health-probe-bind-address", "0"]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.terminate()
        code = process.wait(timeout=30)
    assert code in (0, -signal.SIGTERM)  # the latter where the test ended before the operator had started
