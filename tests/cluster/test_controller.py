"""Controllers against a real API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cluster.widgets import Cluster, WidgetReconciler, install, operating, soon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer


@pytest.fixture
def cluster(api_server: ApiServer, namespace: str) -> Iterator[Cluster]:
    """Give a namespace of a server that serves Widgets."""
    client = api_server.client()
    install(client)
    yield Cluster(client, namespace)
    client.close()


async def test_creates_child_and_reports(api_server: ApiServer, cluster: Cluster) -> None:
    """A new object gets its child, with a controller owner reference, and conditions for its generation."""
    async with operating(WidgetReconciler(), api_server, cluster.namespace):
        made = cluster.apply("one", text="hi")
        await soon(lambda: cluster.state("one", "Ready") == ("True", "Applied"))
    child, status = cluster.config_map("one"), cluster.widget("one")["status"]
    assert child["data"] == {"text": "hi"}
    owner = child["metadata"]["ownerReferences"][0]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (made["metadata"]["uid"], True, True)
    assert status["observedGeneration"] == 1
    assert {c["type"]: (c["status"], c["observedGeneration"]) for c in status["conditions"]} == {
        "Validated": ("True", 1),
        "Ready": ("True", 1),
    }
