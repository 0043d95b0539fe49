"""One control plane and one proxy for all tests of faults: they kill it, and see to it that it is there again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.testing import ControlPlane
from pyopscaffold.testing.discovery import create_namespace, purge_namespace
from tests.cluster.widgets import install
from tests.faults.proxy import FaultProxy
from tests.faults.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """Give a control plane that serves Widgets."""
    plane = ControlPlane()
    with plane as server:
        client = server.client()
        install(client)
        client.close()
        yield plane


@pytest.fixture(scope="session")
def proxy(plane: ControlPlane) -> Iterator[FaultProxy]:
    """Give the proxy before it."""
    with FaultProxy(plane.server) as proxy:
        yield proxy


@pytest.fixture
def world(plane: ControlPlane, proxy: FaultProxy, tmp_path: Path) -> Iterator[World]:
    """Give a namespace, seen from before and behind the proxy."""
    client = plane.server.client()
    namespace = create_namespace(client)
    try:
        yield World(plane, proxy, client, namespace, tmp_path)
        purge_namespace(client, namespace)
    finally:
        client.close()
