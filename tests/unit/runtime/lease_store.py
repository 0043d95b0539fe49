"""The Leases of replicas that share, in memory, and a way to them on which each request can be held up."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

from pyopscaffold.errors import Conflict, NotFound


class Store:
    """The Leases on the server."""

    def __init__(self) -> None:
        self.leases: dict[str, dict[str, Any]] = {}
        self._version = 0

    def create(self, lease: dict[str, Any], **_: Any) -> dict[str, Any]:
        """See Client."""
        return self._keep(copy.deepcopy(lease))

    def patch(self, kind: Any, name: str, patch: dict[str, Any], **_: Any) -> dict[str, Any]:
        """See Client."""
        lease = copy.deepcopy(self._of(name, patch["metadata"]["resourceVersion"]))
        lease["metadata"]["annotations"] |= patch["metadata"]["annotations"]
        lease["spec"] |= patch["spec"]
        return self._keep(lease)

    def delete(self, kind: Any, name: str, *, resource_version: str = "", **_: Any) -> None:
        """See Client."""
        self._of(name, resource_version)
        del self.leases[name]

    def list(self, kind: Any, **_: Any) -> list[dict[str, Any]]:
        """See Client."""
        return copy.deepcopy(list(self.leases.values()))

    def _of(self, name: str, version: str) -> dict[str, Any]:
        if name not in self.leases:
            raise NotFound("no such lease")
        if version not in ("", self.leases[name]["metadata"]["resourceVersion"]):
            raise Conflict("it moved on")
        return self.leases[name]

    def _keep(self, lease: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        lease["metadata"] |= {"resourceVersion": str(self._version), "uid": lease["metadata"]["name"]}
        self.leases[lease["metadata"]["name"]] = lease
        return copy.deepcopy(lease)


class Gated:
    """A replica's way to the store: a request waits before it is served, and its answer before it is told."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.gates: list[asyncio.Future[None]] = []
        self.open = False

    def __getattr__(self, name: str) -> Any:
        async def ask(*args: Any, **options: Any) -> Any:
            await self._pass()
            try:
                answer = getattr(self._store, name)(*args, **options)
            finally:
                await self._pass()
            return answer

        return ask

    async def _pass(self) -> None:
        if not self.open:
            gate = asyncio.get_running_loop().create_future()
            self.gates.append(gate)
            await gate
