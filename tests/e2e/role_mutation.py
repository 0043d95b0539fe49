"""Lives of an operator that take all that it may do, under a role with or without something missing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import NotFound
from pyopscaffold.testing import RestClient, eventually, eventually_async
from pyopscaffold.testing.rbac import Permission, compare
from tests.e2e.mydatabase_cluster import CHILDREN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pyopscaffold.runtime.manager import Manager
    from pyopscaffold.testing import ApiServer, AuditRecord

    MakeManager = Callable[[Path, str], Manager]
    Steps = Sequence[tuple[str, Callable[[], object], Callable[[], bool]]]
    """What must come about, what is done for that, and whether it has."""

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PATIENCE = 3.0
"""Seconds that an operator has to get along after a refusal."""
LONGEST = 30.0


class Tail:
    """The requests so far, by user; ``follow`` reads on."""

    def __init__(self, server: ApiServer) -> None:
        self._log = server.audit_log
        self._read = 0
        self._reading = threading.Lock()
        self.of: dict[str, list[AuditRecord]] = {}

    async def follow(self) -> None:
        """Read what has come, every half second, until cancelled."""
        # The loop's own threads may all be waiting for what is read here.
        with ThreadPoolExecutor(max_workers=1) as own:
            while True:
                await asyncio.get_running_loop().run_in_executor(own, self.catch_up)
                await asyncio.sleep(0.5)

    def catch_up(self) -> None:
        """Read what has come."""
        with self._reading:
            new = self._log.records(skip=self._read)
            self._read += len(new)
            for record in new:
                self.of.setdefault(record.user, []).append(record)


@dataclass
class Life:
    """One operator under one role, in a namespace of its own, and the one database that it looks after."""

    client: RestClient
    tail: Tail
    namespace: str
    role: Sequence[Permission]
    user: str = ""
    refused_at: float = 0.0
    refused: set[Permission] = field(default_factory=set)
    failed_at: str = ""

    @property
    def path(self) -> str:
        """Where the database lives."""
        return f"/apis/example.com/v1/namespaces/{self.namespace}/mydatabases/db"

    @property
    def records(self) -> list[AuditRecord]:
        """What the operator asked for."""
        return self.tail.of.get(self.user, [])

    def children(self) -> list[dict[str, Any]]:
        """Read the children that are there."""
        found = []
        for path in self.child_paths():
            with suppress(NotFound):
                found.append(self.client.get(path))
        return found

    def child_paths(self) -> list[str]:
        """Where the children live."""
        return [f"{api}/namespaces/{self.namespace}/{plural}/db" for plural, api in CHILDREN.items()]

    def write(self, replicas: int) -> None:
        """Write the database as its user."""
        body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": "db"}}
        self.client.apply(self.path, {**body, "spec": {"replicas": replicas}}, manager="user")

    # --- what happens to the database, and what must come of it ---

    def orphan(self) -> None:
        """Leave the children without an owner, as ``kubectl delete --cascade=orphan`` does, and change the spec."""
        for path in self.child_paths():
            self.client.merge(path, {"metadata": {"ownerReferences": None}})
        self.write(replicas=2)

    def delete_children(self) -> None:
        """Delete the children by hand."""
        for path in self.child_paths():
            self.client.delete(path)

    def is_made(self) -> bool:
        """Whether all children are there with their owner, and the status says so."""
        owned = [child for child in self.children() if child["metadata"].get("ownerReferences")]
        status = self.client.get(self.path).get("status", {})
        return len(owned) == len(CHILDREN) and bool(status.get("conditions"))

    def has_series(self) -> bool:
        """Whether an event that came again was counted; deletes the StatefulSet until then.

        An operator whose cache is a moment behind makes it anew, or adopts it, without knowing that it has.
        """
        events = self.client.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        if any((event.get("series") or {}).get("count", 0) > 1 for event in events):
            return True
        with suppress(NotFound):
            self.client.delete(self.child_paths()[0])
        return False

    def is_gone(self) -> bool:
        """Whether the database is gone."""
        try:
            self.client.get(self.path)
        except NotFound:
            return True
        return False

    def of_a_database(self) -> Steps:
        """Give the steps from a new database to none."""
        return [
            ("children are made", lambda: self.write(replicas=1), self.is_made),
            ("orphans are adopted", self.orphan, self.is_made),
            ("events are sent and counted", lambda: None, self.has_series),
            ("deleted children are made anew", self.delete_children, self.is_made),
            ("the finalizer goes", lambda: self.client.delete(self.path), self.is_gone),
        ]

    def of_a_leader(self) -> Steps:
        """Give the steps of leader election."""
        return [
            ("it leads", lambda: None, lambda: bool(self.lease())),
            ("it keeps the lease", lambda: None, lambda: self.lease()["renewTime"] > self.lease()["acquireTime"]),
        ]

    def lease(self) -> dict[str, Any]:
        """Read the one Lease of the namespace, as far as it is there."""
        leases = self.client.get(f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases")["items"]
        return leases[0]["spec"] if leases else {}

    async def live(self, operator: asyncio.Task[None], steps: Steps) -> None:
        """Go through the steps; ``failed_at`` names the one that the operator did not manage."""
        for name, act, check in steps:
            await asyncio.to_thread(act)
            await eventually_async(partial(self._is_decided, operator, check), within=LONGEST)
            if not await asyncio.to_thread(check):
                self.failed_at = name
                return

    def _is_decided(self, operator: asyncio.Task[None], check: Callable[[], bool]) -> bool:
        return self._hopeless(operator) or check()

    def _hopeless(self, operator: asyncio.Task[None]) -> bool:
        """Whether the operator has given up, or was refused something and did not get along without."""
        if not self.refused:
            self.refused.update(compare(_rules(self.role), self.records).refused)
            self.refused_at = time.monotonic()
        return operator.done() or bool(self.refused and time.monotonic() - self.refused_at > PATIENCE)


async def life(
    server: ApiServer,
    tail: Tail,
    namespace: str,
    role: Sequence[Permission],
    make_manager: MakeManager,
    *,
    of: Callable[[Life], Steps] = Life.of_a_database,
) -> Life:
    """Live through one life under a role that grants just these permissions."""
    client = server.client()
    one = Life(client, tail, namespace, role)
    kubeconfig = await asyncio.to_thread(_admit, server, client, one)
    try:
        async with _running(make_manager(kubeconfig, namespace)) as operator:
            await one.live(operator, of(one))
    finally:
        client.close()
    await asyncio.to_thread(tail.catch_up)
    one.refused.update(compare(_rules(role), one.records).refused)
    return one


def _admit(server: ApiServer, client: RestClient, one: Life) -> Path:
    """Make the namespace, the account and its role; gives the kubeconfig once the server goes by the role."""
    name = one.namespace
    client.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    account = server.service_account(name, "operator")
    one.user = account.user
    api_version, metadata = "rbac.authorization.k8s.io/v1", {"name": name}
    rules = [rule.to_mapping() for rule in _rules(one.role)]
    role = {"apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": api_version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": name}],
    }
    client.apply(f"{RBAC}/clusterroles/{name}", role)
    client.apply(f"{RBAC}/clusterrolebindings/{name}", binding)
    asked = one.role[-1]
    resource, _, subresource = asked.resource.partition("/")
    attributes = {
        "group": asked.group,
        "resource": resource,
        "subresource": subresource,
        "verb": asked.verb,
        "name": asked.name,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": account.user, "resourceAttributes": {**attributes, "namespace": name}},
    }
    eventually(lambda: client.create(REVIEWS, review)["status"]["allowed"])
    return server.kubeconfig(account, namespace=name)


def _rules(role: Sequence[Permission]) -> list[Any]:
    return [permission.rule() for permission in role]


@asynccontextmanager
async def _running(manager: Manager) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(manager.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
