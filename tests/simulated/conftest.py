from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulated.workloads import Namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer


@pytest.fixture
def here(cluster: ApiServer, cluster_namespace: str) -> Iterator[Namespace]:
    """Give a fresh namespace of the shared simulated cluster."""
    client = cluster.client()
    yield Namespace(client, cluster_namespace)
    client.close()
