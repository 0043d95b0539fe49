from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.runtime.client.config import load
from pyopscaffold.runtime.client.http import HttpClient, HttpTransport
from pyopscaffold.testing import FakeCluster
from pyopscaffold.testing.binaries.versions import DEFAULT
from pyopscaffold.testing.discovery import create_namespace, purge_namespace
from tests.cluster import fake_conformance
from tests.cluster.gadgets import serve_gadgets
from tests.cluster.widgets import Cluster, install

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer, RestClient


@pytest.fixture
def admin(api_server: ApiServer) -> Iterator[RestClient]:
    """Give an all-powerful client of the shared API server that does not depend on the client under test."""
    client = api_server.client()
    yield client
    client.close()


@pytest.fixture
def newest_kubernetes(admin: RestClient) -> None:
    """Leave out, where the tests run on an older Kubernetes, what only the newest one says."""
    served = admin.get("/version")["gitVersion"]
    if served != f"v{DEFAULT}":
        pytest.skip(f"this is as Kubernetes {DEFAULT} has it; the tests run on {served}")


@pytest.fixture
def cluster(admin: RestClient, namespace: str) -> Cluster:
    """Give a namespace of a server that serves Widgets."""
    install(admin)
    return Cluster(admin, namespace)


@pytest.fixture(scope="module")
def gizmo_server(api_server: ApiServer) -> Iterator[tuple[ApiServer, str]]:
    """Give the shared API server, with the kinds of the conformance tests and a namespace for a module of them."""
    client = api_server.client()
    fake_conformance.install(client)
    name = create_namespace(client)
    yield api_server, name
    purge_namespace(client, name)
    client.close()


@pytest.fixture(params=["fake", "real"])
async def fake_or_real(request: pytest.FixtureRequest) -> AsyncIterator[fake_conformance.Api]:
    """Give an API in memory, and the real one."""
    if request.param == "fake":
        fake = FakeCluster(*fake_conformance.CRDS)
        yield fake_conformance.Api(fake.transport, "default", fake)
        return
    server, namespace = request.getfixturevalue("gizmo_server")
    transport = HttpTransport(load(server.kubeconfig()), user_agent="pyopscaffold")
    yield fake_conformance.Api(transport, namespace)
    await transport.close()


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[HttpClient]:
    """Give a client of the shared API server."""
    client = HttpClient(load(kubeconfig))
    yield client
    await client.close()


@pytest.fixture
async def gadgets(client: HttpClient) -> None:
    """Have the Gadget CRD served."""
    await serve_gadgets(client)
