"""The control plane with kube-controller-manager, kube-scheduler and kwok beside it, all of them child processes.

None of the three listens anywhere. kwok plays the kubelet of every node, by the stages of ``stages.py``; everything
else is the real thing: rollouts, scheduling, eviction, volumes' binding, garbage collection, the end of namespaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.errors import ClientError
from pyopscaffold.testing.binaries import find
from pyopscaffold.testing.controlplane import ControlPlane
from pyopscaffold.testing.simulated import stages
from pyopscaffold.testing.simulated.kinds import KindWatch
from pyopscaffold.testing.simulated.nodes import Nodes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from pyopscaffold.testing.binaries import Binaries
    from pyopscaffold.testing.controlplane import Options
    from pyopscaffold.testing.rest import RestClient
    from pyopscaffold.testing.server import ApiServer

_MANAGER = "kube-controller-manager"
_SCHEDULER = "kube-scheduler"
_KWOK = "kwok"
_PROGRAMS = (_MANAGER, _SCHEDULER, _KWOK)
_USERS = {_MANAGER: f"system:{_MANAGER}", _SCHEDULER: f"system:{_SCHEDULER}", _KWOK: _KWOK}
_PATIENCE_SECONDS = 5.0
"""How long an answer may keep the cluster from stopping."""
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
_PODS = "10.1.0.0/16"
_SERVICES = "10.0.0.0/16"
_STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": stages.PROVISIONER,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}


class SimulatedCluster(ControlPlane):
    """A control plane whose StatefulSets, Deployments and Jobs run, on nodes that are only played.

    Use it as ``ControlPlane``; it is ready when its nodes are and pods can be made.

    Args:
        nodes: how many nodes it has at first: ``node-0`` and on.
        unreachable_after: seconds without heartbeat after which a node counts as gone; at least 1.
        evict_after: seconds after which its pods are evicted, unless they tolerate it for longer.
        back_off: seconds between restarts of a container that crashes.
        controller_manager_arguments: further flags of kube-controller-manager; they win over ours.
        options: those of ``ControlPlane``.

    """

    masters = tuple(_USERS.values())
    makes_service_accounts = True

    def __init__(
        self,
        *,
        nodes: int = 1,
        unreachable_after: float = 40.0,
        evict_after: int = 300,
        back_off: float = 10.0,
        controller_manager_arguments: Sequence[str] = (),
        **options: Unpack[Options],
    ) -> None:
        tolerated = tuple(f"--default-{what}-toleration-seconds={evict_after}" for what in ("not-ready", "unreachable"))
        ours = (f"--service-cluster-ip-range={_SERVICES}", *tolerated)
        options["arguments"] = (*ours, *options.get("arguments", ()))
        super().__init__(**options)
        self._count = nodes
        self._unreachable_after = unreachable_after
        self._back_off = back_off
        self._controller_manager_arguments = tuple(controller_manager_arguments)
        self._kinds: KindWatch | None = None

    def start(self) -> ApiServer:
        """Start everything and wait until the nodes are ready and pods can be made in the default namespace.

        Raises:
            EnvtestError: the programs are not there, or one does not come up; with the last lines of its log.

        """
        if self.runs:
            return self.server
        super().start()
        client = self.server.client()
        try:
            # kwok would wait for what an earlier run of a kept cluster holds.
            client.request("DELETE", _LEASES)
            self._start_beside()
            client.apply("/apis/storage.k8s.io/v1/storageclasses/standard", _STORAGE_CLASS)
            self._nodes().at_least(self._count)
            self._wait_for(lambda: self._is_usable(client), _PROGRAMS)
            self._kinds = KindWatch(self._client_of(_MANAGER), self._renew_manager)
        except BaseException:
            self.stop()
            raise
        finally:
            client.close()
        return self.server

    def stop(self) -> None:
        """Stop everything, the newest first, and remove the folder; harmless when nothing runs."""
        kinds, self._kinds = self._kinds, None
        try:
            if kinds is not None:
                kinds.stop()
        finally:
            super().stop()

    def add_nodes(self, count: int) -> tuple[str, ...]:
        """Make further nodes and give their names; they are ready soon after."""
        return self._nodes().add(count)

    def remove_node(self, name: str) -> None:
        """Let a node go silent, as a machine that lost its power does.

        Its pods stay as they are until the cluster notices, and are then evicted. Those of a StatefulSet are replaced
        only when the node is back or its Node object is deleted, because they could still run.
        """
        self._nodes().vanish(name)

    def return_node(self, name: str) -> None:
        """Let a node that went silent come back."""
        self._nodes().come_back(name)

    def ready_nodes(self) -> frozenset[str]:
        """Names of the nodes that pods may be scheduled to now."""
        return self._nodes().ready()

    def _nodes(self) -> Nodes:
        return Nodes(self.server.client())

    def _programs(self) -> Binaries:
        return self._binaries or find(self._version, simulated=True)

    def _start_beside(self) -> None:
        folder, binaries = self.server.directory, self._programs()
        (folder / "kwok.yaml").write_text(stages.configuration(back_off_seconds=self._back_off))
        self._start_manager()
        self._start_one(
            _SCHEDULER,
            str(binaries.kube_scheduler),
            ("--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000"),
        )
        self._start_one(
            _KWOK,
            str(binaries.kwok),
            (
                f"--config={folder}/kwok.yaml",
                f"--manage-nodes-with-label-selector=!{stages.VANISHED}",
                "--manage-all-nodes=false",
                f"--node-lease-duration-seconds={max(1, round(self._unreachable_after))}",
                f"--cidr={_PODS}",
                "--node-ip=127.0.0.1",
            ),
        )

    def _start_manager(self) -> None:
        self._start_one(_MANAGER, str(self._programs().kube_controller_manager), self._controller_manager_flags())

    def _renew_manager(self) -> None:
        self._running().stop(_MANAGER, grace=1.0)
        self._start_manager()

    def _client_of(self, program: str) -> RestClient:
        who = self.server.identity(_USERS[program])
        return self.server.client(who, user_agent="pyopscaffold-kind-watch", timeout=_PATIENCE_SECONDS)

    def _controller_manager_flags(self) -> tuple[str, ...]:
        kept, grace = self._kept(self.server.directory), self._unreachable_after
        # Nodes are watched as often as in a real cluster, or as the shorter grace asks for. A real cluster evicts
        # slowly, a node in ten seconds, and not at all when most of a few nodes are gone; here tests wait for it.
        return (
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={kept}/sa.key",
            f"--root-ca-file={kept}/ca.crt",
            f"--service-cluster-ip-range={_SERVICES}",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
            f"--node-monitor-grace-period={grace}s",
            f"--node-monitor-period={min(5.0, grace / 4)}s",
            "--node-eviction-rate=100",
            "--secondary-node-eviction-rate=100",
            "--large-cluster-size-threshold=0",
            "--horizontal-pod-autoscaler-sync-period=1s",
            *self._controller_manager_arguments,
        )

    def _start_one(self, name: str, program: str, flags: Sequence[str]) -> None:
        server = self.server
        kubeconfig = server.kubeconfig(server.identity(_USERS[name]))
        self._running().start(
            name, [program, f"--kubeconfig={kubeconfig}", *flags], log=server.directory / f"{name}.log"
        )

    def _is_usable(self, client: RestClient) -> bool:
        try:
            client.get("/api/v1/namespaces/default/serviceaccounts/default")
            return len(Nodes(client).ready()) >= self._count
        except ClientError:
            return False
