"""The MyDatabase example as its users meet it: installed from its own manifests, run as processes of its own."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import StandIn, eventually
from tests.e2e.mydatabase_cluster import ACCOUNT, EXAMPLE, SYSTEM, Cluster, Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.testing import ApiServer


@pytest.fixture(scope="module")
def cluster(control_planes: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Give a control plane with what ``make deploy`` installs, and a stand-in for the controllers."""
    plane = control_planes(audit=True)
    server: ApiServer = plane.server
    environment = {**os.environ, "KUBECONFIG": str(server.kubeconfig())}
    rendered = subprocess.run(
        [str(server.kubectl), "kustomize", str(EXAMPLE / "config" / "default")],
        check=True,
        capture_output=True,
        env=environment,
    ).stdout
    apply = [str(server.kubectl), "apply", "--server-side", "--filename", "-"]
    subprocess.run(apply, input=rendered, check=True, capture_output=True, env=environment)
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mydatabases.example.com"
    client = server.client()
    eventually(lambda: any(c["type"] == "Established" for c in client.get(crd)["status"]["conditions"]))
    eventually(lambda: client.get("/apis/example.com/v1/mydatabases")["items"] == [])
    account = server.service_account(SYSTEM, ACCOUNT)
    kubeconfig = server.kubeconfig(account, namespace=SYSTEM)
    with StandIn(server, step=0.1):
        yield Cluster(server, kubeconfig, account.user, tmp_path_factory.mktemp("operators"))
    client.close()


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a database-to-be in a namespace of its own; operators that the test started are stopped after it."""
    name = re.sub("[^a-z]+", "-", request.node.name)[:60].strip("-")
    client = cluster.server.client()
    client.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    before = len(cluster.operators)
    try:
        yield Database(client, name)
    finally:
        for operator in cluster.operators[before:]:
            if operator.process.poll() is None:
                operator.stop()
            print(operator.log.read_text())  # noqa: T201 - pytest shows it where the test failed
        client.close()
