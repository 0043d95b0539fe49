"""The pytest plugin: fixtures that give a test a real API server.

Every run of pytest loads it, so what a fixture needs is imported in the fixture.

============================  ========  =======================================================================
fixture                       lifetime  gives
============================  ========  =======================================================================
``api_server``                run       an ``ApiServer``, one for all workers of an xdist run
``namespace``                 test      name of a fresh namespace on it, removed with all that is in it
``kubeconfig``                run       path of the admin's kubeconfig for it
``isolated_api_server``       test      an ``ApiServer`` that no other test sees
``control_planes``            module    a function that starts further control planes: ``ControlPlane``'s options
============================  ========  =======================================================================

The ini option ``envtest_version`` chooses the Kubernetes version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyopscaffold.testing.broker import Broker
    from pyopscaffold.testing.controlplane import ControlPlane
    from pyopscaffold.testing.server import ApiServer

    class ControlPlanes(Protocol):
        """Starts a control plane that stops with the test module."""

        def __call__(self, **options: object) -> ControlPlane:
            """Start one with the options of ``ControlPlane``."""


_BROKER = "pyopscaffold_broker"
_broker_key: pytest.StashKey[Broker] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini("envtest_version", "Kubernetes version of the embedded control plane", default="")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell an xdist worker, before it starts, where to ask for the shared control plane."""
    config: pytest.Config = node.config  # type: ignore[attr-defined]  # xdist has no public type for a node
    if _broker_key not in config.stash:
        from pyopscaffold.testing.broker import Broker  # noqa: PLC0415 - see the module docstring

        config.stash[_broker_key] = Broker(_audited_plane(config))
    node.workerinput[_BROKER] = config.stash[_broker_key].address  # type: ignore[attr-defined]  # as above


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the shared control plane after the last worker."""
    broker = config.stash.get(_broker_key, None)
    if broker is not None:
        broker.stop()


@pytest.fixture(scope="session")
def api_server(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """Give the run's API server, with an audit log; it is shared, so a test keeps to its own namespace."""
    worker: dict[str, str] | None = getattr(pytestconfig, "workerinput", None)
    if worker and _BROKER in worker:
        from pyopscaffold.testing.broker import borrow  # noqa: PLC0415 - see the module docstring

        yield _or_fail(lambda: borrow(worker[_BROKER]))
        return
    plane = _audited_plane(pytestconfig)
    try:
        yield _or_fail(plane.start)
    finally:
        plane.stop()


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

    started: list[ControlPlane] = []

    def start(**options: object) -> ControlPlane:
        plane = ControlPlane(**{"version": _version(pytestconfig), **options})  # type: ignore[arg-type]  # its own options
        started.append(plane)
        _or_fail(plane.start)
        return plane

    try:
        yield start
    finally:
        for plane in started:
            plane.stop()


@pytest.fixture
def isolated_api_server(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """Give an API server of the test's own, with an audit log."""
    plane = _audited_plane(pytestconfig)
    try:
        yield _or_fail(plane.start)
    finally:
        plane.stop()


def _version(config: pytest.Config) -> str | None:
    version: str = config.getini("envtest_version")
    return version or None


def _audited_plane(config: pytest.Config) -> ControlPlane:
    from pyopscaffold.testing.controlplane import ControlPlane  # noqa: PLC0415 - see the module docstring

    return ControlPlane(version=_version(config), audit=True)


def _or_fail(start: Callable[[], ApiServer]) -> ApiServer:
    """Start, or fail the test with the error's own words: a traceback would say nothing more."""
    try:
        return start()
    except EnvtestError as error:
        reason = f"{error} ({error.hint})" if error.hint else str(error)
    pytest.fail(reason, pytrace=False)
