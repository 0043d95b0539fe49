"""The nodes of a simulated cluster: made, gone and back. kwok plays the kubelet of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import EnvtestError, NotFound
from pyopscaffold.testing.simulated.stages import VANISHED

if TYPE_CHECKING:
    from pyopscaffold.testing.rest import Json, RestClient

NODES = "/api/v1/nodes"
_ROOM = {"cpu": "32", "memory": "256Gi", "pods": "110", "ephemeral-storage": "1Ti"}


class Nodes:
    """Acts on the nodes of the cluster that ``client`` speaks to."""

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def add(self, count: int) -> tuple[str, ...]:
        """Make ``count`` further nodes, ``node-0`` and on, and give their names; they are ready soon after."""
        taken = {item["metadata"]["name"] for item in self._all()}
        free = (name for number in range(len(taken) + count) if (name := f"node-{number}") not in taken)
        names = tuple(next(free) for _ in range(count))
        for name in names:
            self._client.create(NODES, _node(name))
        return names

    def at_least(self, count: int) -> None:
        """Make as many nodes as there lack."""
        self.add(max(0, count - len(self._all())))

    def vanish(self, name: str) -> None:
        """Let a node go silent, as a machine that lost its power does: its pods are neither run nor ended any more.

        Raises:
            EnvtestError: there is no such node.

        """
        self._label(name, "true")

    def come_back(self, name: str) -> None:
        """Let a silent node speak again: it ends the pods that were evicted and runs the others.

        Raises:
            EnvtestError: there is no such node.

        """
        self._label(name, None)

    def ready(self) -> frozenset[str]:
        """Names of those that are ready and that pods may be scheduled to."""
        return frozenset(item["metadata"]["name"] for item in self._all() if _is_ready(item))

    def _all(self) -> list[Json]:
        found: list[Json] = self._client.get(NODES)["items"]
        return found

    def _label(self, name: str, value: str | None) -> None:
        try:
            self._client.merge(f"{NODES}/{name}", {"metadata": {"labels": {VANISHED: value}}})
        except NotFound as error:
            known = ", ".join(item["metadata"]["name"] for item in self._all())
            raise EnvtestError(f"the cluster has no node {name!r}", hint=f"it has {known or 'none'}") from error


def _node(name: str) -> dict[str, Any]:
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": "simulated",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {
            "capacity": _ROOM,
            "allocatable": _ROOM,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "containerRuntimeVersion": "simulated://1",
                "kubeletVersion": "simulated",
                "kubeProxyVersion": "",
                "kernelVersion": "",
                "osImage": "simulated",
                "machineID": "",
                "systemUUID": "",
                "bootID": "",
            },
        },
    }


def _is_ready(node: Json) -> bool:
    conditions = node["status"].get("conditions", [])
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return ready and not node["spec"].get("taints") and VANISHED not in node["metadata"].get("labels", {})
