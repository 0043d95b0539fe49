"""The MyDatabase example as its users meet it: installed from its own manifests, run as processes of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import StandIn
from tests.e2e.mydatabase_cluster import Cluster, Database, database_in, install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.testing import ApiServer


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Give a folder with a short path, since a control plane's sockets leave a temporary folder whose path is long.

    What is left of a process is looked for by the folder in its command line, so everything must stay in it.
    """
    with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="module")
def cluster(control_planes: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Give a control plane with what ``make deploy`` installs, and a stand-in for the controllers."""
    plane = control_planes(audit=True)
    server: ApiServer = plane.server
    with StandIn(server, step=0.1):
        yield install(server, tmp_path_factory.mktemp("operators"))


@pytest.fixture
def database(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give a database-to-be in a namespace of its own; operators that the test started are stopped after it."""
    before = len(cluster.operators)
    try:
        with database_in(cluster, request.node.name) as found:
            yield found
    finally:
        for operator in cluster.operators[before:]:
            operator.end()
