"""Nodes of a simulated cluster join, go silent and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import eventually
from pyopscaffold.testing.discovery import create_namespace
from tests.cluster.envtest_helpers import exists
from tests.simulated.workloads import Namespace, condition, deployment, pod, stateful_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import SimulatedCluster
    from pyopscaffold.testing.plugin import Clusters

pytestmark = pytest.mark.xdist_group("simulated-nodes")


@pytest.fixture(scope="module")
def machines(clusters: Clusters) -> SimulatedCluster:
    """Start a cluster of two nodes that notices soon when one is gone."""
    return clusters(nodes=2, unreachable_after=2.0, evict_after=1)


@pytest.fixture
def here(machines: SimulatedCluster) -> Iterator[Namespace]:
    """Give a fresh namespace on it."""
    eventually(lambda: machines.ready_nodes() >= {"node-0", "node-1"})  # the last test's may just be coming back
    client = machines.server.client()
    name = create_namespace(client)
    eventually(lambda: exists(client, f"/api/v1/namespaces/{name}/serviceaccounts/default"))
    yield Namespace(client, name)
    client.delete(f"/api/v1/namespaces/{name}")
    client.close()


def nodes_of(pods: list[dict[str, Any]]) -> set[str]:
    """Names of the nodes of the ready ones among the pods."""
    return {one["spec"]["nodeName"] for one in pods if condition(one["status"], "Ready") == "True"}


def test_pods_go_to_the_nodes_that_are_left(machines: SimulatedCluster, here: Namespace) -> None:
    """When a node goes silent its pods are evicted, and a Deployment is whole again on the others."""
    apart = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    spread = {**apart, "labelSelector": {"matchLabels": {"app": "app"}}}
    here.client.apply(here.path("deployments", "app"), deployment(4, pod(topologySpreadConstraints=[spread])))
    eventually(lambda: here.ready("deployments") == 4)
    everywhere = machines.ready_nodes()
    assert nodes_of(here.items("pods")) == everywhere
    machines.remove_node("node-0")
    left = everywhere - {"node-0"}
    eventually(lambda: machines.ready_nodes() == left)
    eventually(lambda: here.ready("deployments") == 4 and nodes_of(here.items("pods")) <= left)
    machines.return_node("node-0")
    eventually(lambda: machines.ready_nodes() == everywhere)
    eventually(lambda: len(here.items("pods")) == 4)  # what was evicted has ended there


def test_a_stateful_set_waits_for_its_node(machines: SimulatedCluster, here: Namespace) -> None:
    """The pod of a StatefulSet on a silent node is not replaced, since it may still run, until the node is back."""
    here.client.apply(here.path("statefulsets", "app"), stateful_set(1))
    eventually(lambda: here.ready("statefulsets") == 1)
    first = here.client.get(here.path("pods", "app-0"))
    machines.remove_node(first["spec"]["nodeName"])
    eventually(lambda: "deletionTimestamp" in here.client.get(here.path("pods", "app-0"))["metadata"])
    assert here.client.get(here.path("pods", "app-0"))["metadata"]["uid"] == first["metadata"]["uid"]
    assert here.ready("statefulsets") == 0
    machines.return_node(first["spec"]["nodeName"])
    eventually(lambda: here.ready("statefulsets") == 1)
    assert here.client.get(here.path("pods", "app-0"))["metadata"]["uid"] != first["metadata"]["uid"]


def test_a_pod_that_outwaits_the_silence_is_ready_again(machines: SimulatedCluster, here: Namespace) -> None:
    """A pod that tolerates an unreachable node for long is not ready while the node is silent, and then it is again."""
    keys = ("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready")
    tolerations = [{"key": key, "operator": "Exists", "effect": "NoExecute"} for key in keys]
    here.client.apply(here.path("statefulsets", "app"), stateful_set(1, pod(tolerations=tolerations)))
    eventually(lambda: here.ready("statefulsets") == 1)
    first = here.client.get(here.path("pods", "app-0"))
    machines.remove_node(first["spec"]["nodeName"])
    eventually(lambda: here.ready("statefulsets") == 0)
    machines.return_node(first["spec"]["nodeName"])
    eventually(lambda: here.ready("statefulsets") == 1)
    assert here.client.get(here.path("pods", "app-0"))["metadata"]["uid"] == first["metadata"]["uid"]


def test_pods_wait_for_nodes_with_room(machines: SimulatedCluster, here: Namespace) -> None:
    """A pod that fits nowhere stays pending, until there is a node for it."""
    template = pod(nodeSelector={"kubernetes.io/hostname": "node-2"})
    here.client.apply(here.path("deployments", "app"), deployment(1, template))
    eventually(lambda: any(condition(one["status"], "PodScheduled") == "False" for one in here.items("pods")))
    assert machines.add_nodes(1) == ("node-2",)
    eventually(lambda: here.ready("deployments") == 1)


def test_an_unknown_node_is_named(machines: SimulatedCluster) -> None:
    """Taking a node away that is not there says which there are."""
    with pytest.raises(EnvtestError, match="no node 'node-9'") as caught:
        machines.remove_node("node-9")
    assert "node-0, node-1" in (caught.value.hint or "")
