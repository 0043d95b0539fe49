"""What the tests of the control plane look at from outside."""

from __future__ import annotations

import socket
import subprocess
import urllib.parse
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import RestClient

WIDGETS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.envtest.example.com"
WIDGET_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.envtest.example.com"},
    "spec": {
        "group": "envtest.example.com",
        "names": {"kind": "Widget", "plural": "widgets"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


def processes_of(folder: Path) -> list[str]:
    """Command lines that name ``folder``: every process of one control plane does."""
    listed = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(folder) in line]


def answers(url: str) -> bool:
    """Tell whether anything listens at ``url``."""
    parts = urllib.parse.urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((parts.hostname or "", parts.port or 0)) == 0


def config_map(name: str, **metadata: Any) -> dict[str, Any]:
    """Make a ConfigMap without data."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


def stateful_set(name: str, *, replicas: int, **metadata: Any) -> dict[str, Any]:
    """Make a StatefulSet that the API server accepts."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, **metadata},
        "spec": {
            "serviceName": name,
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "example.com/image:1"}]},
            },
        },
    }


def owned_by(owner: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the ownerReferences of a child whose foreground deletion its owner waits for."""
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "blockOwnerDeletion": True}
    return [{**reference, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]


def exists(client: RestClient, path: str) -> bool:
    """Tell whether there is an object at ``path``."""
    try:
        client.get(path)
    except NotFound:
        return False
    return True
