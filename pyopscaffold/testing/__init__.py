"""API servers for tests: a real one, a simulated cluster on it, one in memory, and a pytest plugin.

The names below are imported when they are first used, because a pytest plugin is loaded by every run of pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.testing.audit import AuditLog, AuditRecord
    from pyopscaffold.testing.binaries import Binaries
    from pyopscaffold.testing.controlplane import ControlPlane
    from pyopscaffold.testing.fake import FakeCluster
    from pyopscaffold.testing.rest import RestClient
    from pyopscaffold.testing.server import ApiServer, Identity
    from pyopscaffold.testing.simulated.cluster import SimulatedCluster
    from pyopscaffold.testing.stand_in import StandIn
    from pyopscaffold.testing.waiting import eventually, eventually_async

__all__ = [
    "ApiServer",
    "AuditLog",
    "AuditRecord",
    "Binaries",
    "ControlPlane",
    "FakeCluster",
    "Identity",
    "RestClient",
    "SimulatedCluster",
    "StandIn",
    "eventually",
    "eventually_async",
]

_HOMES = {
    "ApiServer": "server",
    "AuditLog": "audit",
    "AuditRecord": "audit",
    "Binaries": "binaries",
    "ControlPlane": "controlplane",
    "FakeCluster": "fake",
    "Identity": "server",
    "RestClient": "rest",
    "SimulatedCluster": "simulated.cluster",
    "StandIn": "stand_in",
    "eventually": "waiting",
    "eventually_async": "waiting",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
