"""Many databases at once, on a simulated cluster whose nodes go and come back."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.testing import RestClient

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True)
class Fleet:
    """Databases ``db-0`` and on in one namespace, of as many pods each."""

    client: RestClient
    namespace: str
    count: int
    replicas: int

    def write(self) -> None:
        """Make all of them."""
        for number in range(self.count):
            name = f"db-{number}"
            body = {"apiVersion": "example.com/v1", "kind": "MyDatabase", "metadata": {"name": name}}
            self.client.apply(f"{self._databases}/{name}", {**body, "spec": {"replicas": self.replicas}})

    def delete(self) -> None:
        """Delete all of them; they are gone soon after."""
        self.client.request("DELETE", self._databases)

    def ready(self) -> int:
        """Count those that serve with all of their pods."""
        return sum(map(self._is_ready, self.client.get(self._databases)["items"]))

    def pods(self) -> list[dict[str, Any]]:
        """Read the pods of all of them."""
        found: list[dict[str, Any]] = self.client.get(f"/api/v1/namespaces/{self.namespace}/pods")["items"]
        return found

    def disturbed(self, nodes: Collection[str]) -> set[str]:
        """Name the databases that have a pod on one of these nodes."""
        hit = (pod for pod in self.pods() if pod["spec"].get("nodeName") in nodes)
        return {pod["metadata"]["labels"]["app.kubernetes.io/instance"] for pod in hit}

    def wait(self, count: int, *, within: float, every: float = 0.2) -> None:
        """Wait until just so many are ready; look every few seconds only where reading them all is much work.

        Raises:
            AssertionError: there were not, in time.

        """
        deadline = time.monotonic() + within
        while (now := self.ready()) != count:
            if time.monotonic() > deadline:
                raise AssertionError(f"{now} of {self.count} databases are ready, not {count}, after {within:g} s")
            time.sleep(every)

    @property
    def _databases(self) -> str:
        return f"/apis/example.com/v1/namespaces/{self.namespace}/mydatabases"

    def _is_ready(self, database: dict[str, Any]) -> bool:
        status = database.get("status", {})
        found = {condition["type"]: condition["status"] for condition in status.get("conditions", [])}
        return found.get("Ready") == "True" and status["readyReplicas"] == self.replicas
