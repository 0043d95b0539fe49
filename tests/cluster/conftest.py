from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster.widgets import Cluster, install

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer, RestClient


@pytest.fixture
def admin(api_server: ApiServer) -> Iterator[RestClient]:
    """Give an all-powerful client of the shared API server that does not depend on the client under test."""
    client = api_server.client()
    yield client
    client.close()


@pytest.fixture
def cluster(admin: RestClient, namespace: str) -> Cluster:
    """Give a namespace of a server that serves Widgets."""
    install(admin)
    return Cluster(admin, namespace)
