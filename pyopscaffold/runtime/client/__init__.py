"""The client of the API server: protocols first, and one implementation over HTTP in ``http``.

Names are loaded when they are first used: the protocols do without an HTTP client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.config import ClusterConfig, in_cluster, load
    from pyopscaffold.runtime.client.http import HttpClient, user_agent
    from pyopscaffold.runtime.client.kinds import ApiGroup, ApiResource
    from pyopscaffold.runtime.client.protocols import Client, Reader, Scale, Writer

__all__ = [
    "ApiGroup",
    "ApiResource",
    "Client",
    "ClusterConfig",
    "HttpClient",
    "Reader",
    "Scale",
    "Writer",
    "in_cluster",
    "load",
    "user_agent",
]

_HOMES = {
    "ApiGroup": "kinds",
    "ApiResource": "kinds",
    "Client": "protocols",
    "ClusterConfig": "config",
    "HttpClient": "http",
    "Reader": "protocols",
    "Scale": "protocols",
    "Writer": "protocols",
    "in_cluster": "config",
    "load": "config",
    "user_agent": "http",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
