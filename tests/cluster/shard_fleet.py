"""Replicas that share Widgets, each a process with an account of its own that may do what the docs say, and no more."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.runtime.ring import Ring
from pyopscaffold.testing import ApiServer
from tests.cluster.widgets import GROUP, Cluster, soon

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
RULES = [
    {"apiGroups": [GROUP], "resources": ["widgets"], "verbs": ["list", "watch", "patch"]},
    {"apiGroups": [GROUP], "resources": ["widgets/status"], "verbs": ["patch"]},
    {"apiGroups": [GROUP], "resources": ["widgets/finalizers"], "verbs": ["update"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch", "create", "patch", "delete"]},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "list", "patch", "delete"]},
]
"""The table "Permissions" of docs/runtime.md, for these kinds and with sharding."""
WITHIN = 90.0
"""Seconds for what takes two on a quiet machine."""
_RBAC = "rbac.authorization.k8s.io"


@dataclass
class Replica:
    """One process; ``stops`` are when it was killed or stopped, on the clock that all processes share."""

    user: str
    process: subprocess.Popen[str]
    log: Path
    stops: list[float] = field(default_factory=list)

    def lines(self, text: str, **fields: Any) -> list[dict[str, Any]]:
        """Log lines so far whose message contains the text, with these fields."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if text in line["msg"] and fields.items() <= line.items()]

    def lease(self) -> str:
        """Name of its Lease, by its log; '' before it has one."""
        joined = self.lines("joined the shards as")
        return str(joined[-1]["msg"].split()[-1]) if joined else ""

    def begun(self, after: float) -> dict[str, float]:
        """When it first began to look at objects after a time, by name."""
        lines = reversed(self.lines("begin"))
        return {line["name"]: line["at"] for line in lines if line["at"] > after}

    def worked_on(self, name: str) -> int:
        """How often it began to look at an object."""
        return len(self.lines("begin", name=name))

    def signal(self, which: signal.Signals) -> float:
        """Send a signal, and give the time of it."""
        now = time.monotonic()
        if which in {signal.SIGKILL, signal.SIGSTOP}:
            self.stops.append(now)
        self.process.send_signal(which)
        return now

    def spans(self) -> Iterator[tuple[str, float, float]]:
        """Name, begin and end of each of its reconciles; what was under way when it was stopped ended there."""
        open_: dict[str, float] = {}
        for line in self.lines("", controller="widget"):
            if line["msg"] == "begin":
                open_[line["name"]] = line["at"]
            elif line["msg"] == "end":
                begun = open_.pop(line["name"])
                yield line["name"], begun, self._last(begun, line["at"])
        for name, begun in open_.items():
            yield name, begun, self._last(begun, time.monotonic())

    def _last(self, begun: float, ended: float) -> float:
        return min((stop for stop in self.stops if begun < stop < ended), default=ended)


@dataclass
class ShardFleet:
    """All replicas of one test, in its namespace."""

    server: ApiServer
    cluster: Cluster
    folder: Path
    lease_duration: int
    replicas: list[Replica] = field(default_factory=list)

    def start(self, **environment: str) -> Replica:
        """Start one more replica."""
        account = f"replica-{len(self.replicas)}"
        who = self.server.service_account(self.cluster.namespace, account)
        self._allow(account)
        log = self.folder / f"{account}.log"
        command = [
            *(sys.executable, "-m", "tests.cluster.sharded_operator", f"--namespace={self.cluster.namespace}"),
            f"--kubeconfig={self.server.kubeconfig(who, namespace=self.cluster.namespace)}",
            *("--metrics-bind-address=0", "--health-probe-bind-address=0"),
            *("--shard", "--shard-id=widgets", f"--shard-lease-duration={self.lease_duration}"),
        ]
        with log.open("w") as stderr:
            variables = {**os.environ, **environment}
            process = subprocess.Popen(command, cwd=ROOT, stderr=stderr, text=True, env=variables)
        self.replicas.append(Replica(who.user, process, log))
        return self.replicas[-1]

    def end(self) -> None:
        """Kill what still runs."""
        for replica in self.replicas:
            replica.process.kill()
            replica.process.wait()

    def leases(self) -> dict[str, dict[str, Any]]:
        """All Leases of the replicas, by name."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.cluster.namespace}/leases"
        found = self.cluster.client.get(path)["items"]
        return {
            lease["metadata"]["name"]: lease for lease in found if f"{GROUP}/shard-group" in lease["metadata"]["labels"]
        }

    def agreed(self, *replicas: Replica) -> bool:
        """Whether just these are members, and all of them divide the objects by the same view."""
        leases, names = self.leases(), sorted(replica.lease() for replica in replicas)
        views = {lease["metadata"]["annotations"][f"{GROUP}/shard-members"] for lease in leases.values()}
        return all(names) and sorted(leases) == names and views == {",".join(names)}

    def owner(self, name: str) -> Replica:
        """Whose an object is, when all agree."""
        lease = Ring(self.leases()).owner(self.cluster.namespace, name)
        return next(replica for replica in self.replicas if replica.lease() == lease)

    def named(self, replica: Replica, prefix: str) -> str:
        """Make up a name with this prefix that is the replica's."""
        ring, mine = Ring(self.leases()), replica.lease()
        names = (f"{prefix}-{number}" for number in range(1000))
        return next(name for name in names if ring.owner(self.cluster.namespace, name) == mine)

    async def say(self, text: str, *names: str) -> None:
        """Wait until the ConfigMaps and the statuses of Widgets say this text."""
        for name in names:
            await soon(partial(self._says, name, text), WITHIN)

    def overlaps(self) -> list[tuple[str, str, str]]:
        """Objects that two replicas worked on at the same time."""
        spans = sorted(
            (name, begun, ended, replica.user) for replica in self.replicas for name, begun, ended in replica.spans()
        )
        return [
            (name, user, other)
            for index, (name, _, ended, user) in enumerate(spans)
            for another, begun, _, other in spans[index + 1 :]
            if another == name and begun < ended and user != other
        ]

    def _allow(self, account: str) -> None:
        namespace = self.cluster.namespace
        path = f"/apis/{_RBAC}/v1/namespaces/{namespace}"
        head = {"apiVersion": f"{_RBAC}/v1", "metadata": {"name": account}}
        role = {"apiGroup": _RBAC, "kind": "Role", "name": account}
        subjects = [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]
        self.cluster.client.apply(f"{path}/roles/{account}", {**head, "kind": "Role", "rules": RULES})
        binding = {**head, "kind": "RoleBinding", "roleRef": role, "subjects": subjects}
        self.cluster.client.apply(f"{path}/rolebindings/{account}", binding)

    def _says(self, name: str, text: str) -> bool:
        message = self.cluster.condition(name, "Ready").get("message")
        return message == text and bool(self.cluster.config_map(name)["data"]["text"] == text)
