"""The pytest plugin: fixtures that give a test a real API server, a simulated cluster, or a server in memory.

Every run of pytest loads it, so what a fixture needs is imported in the fixture.

============================  ========  =======================================================================
fixture                       lifetime  gives
============================  ========  =======================================================================
``api_server``                run       an ``ApiServer``, one for all workers of an xdist run
``namespace``                 test      name of a fresh namespace on it, removed with all that is in it
``kubeconfig``                run       path of the admin's kubeconfig for it
``isolated_api_server``       test      an ``ApiServer`` that no other test sees
``control_planes``            module    a function that starts further control planes: ``ControlPlane``'s options
``cluster``                   run       the ``ApiServer`` of a simulated cluster, shared as ``api_server`` is
``cluster_namespace``         test      name of a fresh namespace on it, removed with all that is in it
``clusters``                  module    a function that starts further ones: ``SimulatedCluster``'s options
``fake_cluster``              test      an empty ``FakeCluster``, an API server in memory
``rbac_proof``                test      nothing; the test fails if the operator's role is not just what it needs
============================  ========  =======================================================================

The ini option ``envtest_version`` chooses the Kubernetes version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import pytest

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyopscaffold.testing.broker import Broker
    from pyopscaffold.testing.controlplane import ControlPlane
    from pyopscaffold.testing.fake import FakeCluster
    from pyopscaffold.testing.server import ApiServer
    from pyopscaffold.testing.simulated.cluster import SimulatedCluster

    T = TypeVar("T", bound=ControlPlane)

    class ControlPlanes(Protocol):
        """Starts a control plane that stops with the test module."""

        def __call__(self, **options: object) -> ControlPlane:
            """Start one with the options of ``ControlPlane``."""

    class Clusters(Protocol):
        """Starts a simulated cluster that stops with the test module."""

        def __call__(self, **options: object) -> SimulatedCluster:
            """Start one with the options of ``SimulatedCluster``."""


_SERVER = "pyopscaffold_api_server"
_CLUSTER = "pyopscaffold_cluster"
_NODES = 3
_brokers_key: pytest.StashKey[dict[str, Broker]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini("envtest_version", "Kubernetes version of the embedded control plane", default="")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell an xdist worker, before it starts, where to ask for the shared control plane."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # xdist has no public type for a node
    if _brokers_key not in config.stash:
        from pyopscaffold.testing.broker import Broker  # noqa: PLC0415 - see the module docstring

        planes = {_SERVER: _audited_plane(config), _CLUSTER: _audited_cluster(config)}
        config.stash[_brokers_key] = {name: Broker(plane) for name, plane in planes.items()}
    for name, broker in config.stash[_brokers_key].items():
        node.workerinput[name] = broker.address  # type: ignore[attr-defined]  # as above


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what was shared after the last worker."""
    for broker in config.stash.get(_brokers_key, {}).values():
        broker.stop()


@pytest.fixture(scope="session")
def api_server(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """Give the run's API server, with an audit log; it is shared, so a test keeps to its own namespace."""
    yield from _shared(pytestconfig, _SERVER, _audited_plane)


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """Give the API server of the run's simulated cluster, with an audit log and three nodes.

    It is shared, so a test keeps to its own namespace and leaves the nodes alone.
    """
    yield from _shared(pytestconfig, _CLUSTER, _audited_cluster)


@pytest.fixture
def cluster_namespace(cluster: ApiServer) -> Iterator[str]:
    """Give a fresh namespace on the shared simulated cluster, in which pods can be made."""
    from pyopscaffold.testing.discovery import create_namespace, purge_namespace  # noqa: PLC0415 - see above
    from pyopscaffold.testing.waiting import eventually  # noqa: PLC0415 - see above

    client = cluster.client()
    name = create_namespace(client)
    try:
        eventually(lambda: client.get(f"/api/v1/namespaces/{name}/serviceaccounts/default"))
        yield name
        purge_namespace(client, name)
    finally:
        client.close()


@pytest.fixture
def namespace(api_server: ApiServer) -> Iterator[str]:
    """Give a fresh namespace on the shared API server."""
    from pyopscaffold.testing.discovery import create_namespace, purge_namespace  # noqa: PLC0415 - see above

    client = api_server.client()
    name = create_namespace(client)
    try:
        yield name
        purge_namespace(client, name)
    finally:
        client.close()


@pytest.fixture(scope="session")
def kubeconfig(api_server: ApiServer) -> Path:
    """Give the path of the admin's kubeconfig for the shared API server."""
    return api_server.kubeconfig()


@pytest.fixture(scope="module")
def control_planes(pytestconfig: pytest.Config) -> Iterator[ControlPlanes]:
    """Give a function that starts a control plane with the given options; all stop with the module."""
    from pyopscaffold.testing.controlplane import ControlPlane  # noqa: PLC0415 - see the module docstring

    yield from _starter(pytestconfig, ControlPlane)


@pytest.fixture(scope="module")
def clusters(pytestconfig: pytest.Config) -> Iterator[Clusters]:
    """Give a function that starts a simulated cluster with the given options; all stop with the module."""
    from pyopscaffold.testing.simulated.cluster import SimulatedCluster  # noqa: PLC0415 - see the module docstring

    yield from _starter(pytestconfig, SimulatedCluster)


@pytest.fixture
def isolated_api_server(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """Give an API server of the test's own, with an audit log."""
    plane = _audited_plane(pytestconfig)
    try:
        yield _or_fail(plane.start)
    finally:
        plane.stop()


@pytest.fixture
def fake_cluster() -> FakeCluster:
    """Give an API server in memory: ``fake_cluster.serve(MyKind)`` has it serve one's own kinds."""
    from pyopscaffold.testing.fake import FakeCluster  # noqa: PLC0415 - see the module docstring

    return FakeCluster()


@pytest.fixture
def rbac_proof(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Iterator[None]:
    """Fail the test if config/rbac/role.yaml is not just what the operator in the test's namespace asked for.

    The operator is whoever speaks as a service account of that namespace, on ``api_server`` or ``cluster``.
    """
    from pyopscaffold.testing import proof  # noqa: PLC0415 - see the module docstring

    on_cluster = "cluster_namespace" in request.fixturenames
    server: ApiServer = request.getfixturevalue("cluster" if on_cluster else "api_server")
    namespace: str = request.getfixturevalue("cluster_namespace" if on_cluster else "namespace")
    yield
    records = proof.operator_records([server.audit_log], namespace=namespace)
    if not records:
        pytest.fail(f"no service account of namespace {namespace} has asked for anything", pytrace=False)
    findings = proof.describe(proof.prove(pytestconfig.rootpath, records))
    if findings:
        pytest.fail("\n".join([f"{proof.ROLE} is not just what this test needs:", *findings]), pytrace=False)


def _version(config: pytest.Config) -> str | None:
    version: str = config.getini("envtest_version")
    return version or None


def _audited_plane(config: pytest.Config) -> ControlPlane:
    from pyopscaffold.testing.controlplane import ControlPlane  # noqa: PLC0415 - see the module docstring

    return ControlPlane(version=_version(config), audit=True)


def _audited_cluster(config: pytest.Config) -> ControlPlane:
    from pyopscaffold.testing.simulated.cluster import SimulatedCluster  # noqa: PLC0415 - see the module docstring

    return SimulatedCluster(version=_version(config), audit=True, nodes=_NODES)


def _shared(config: pytest.Config, name: str, make: Callable[[pytest.Config], ControlPlane]) -> Iterator[ApiServer]:
    """Borrow what the workers of an xdist run share; without xdist, start it."""
    worker: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker and name in worker:
        from pyopscaffold.testing.broker import borrow  # noqa: PLC0415 - see the module docstring

        yield _or_fail(lambda: borrow(worker[name]))
        return
    plane = make(config)
    try:
        yield _or_fail(plane.start)
    finally:
        plane.stop()


def _starter(config: pytest.Config, kind: type[T]) -> Iterator[Callable[..., T]]:
    started: list[T] = []

    def start(**options: object) -> T:
        plane = kind(**{"version": _version(config), **options})  # type: ignore[arg-type]  # its own options
        started.append(plane)
        _or_fail(plane.start)
        return plane

    try:
        yield start
    finally:
        for plane in started:
            plane.stop()


def _or_fail(start: Callable[[], ApiServer]) -> ApiServer:
    """Start, or fail the test with the error's own words: a traceback would say nothing more."""
    try:
        return start()
    except EnvtestError as error:
        reason = f"{error} ({error.hint})" if error.hint else str(error)
    pytest.fail(reason, pytrace=False)
