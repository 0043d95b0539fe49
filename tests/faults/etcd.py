"""The etcd of an embedded control plane, spoken to directly."""

from __future__ import annotations

import http.client
import json
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing import ApiServer


def compact(server: ApiServer) -> None:
    """Have etcd forget all history up to now."""
    etcd = _Etcd(server.directory / "etcd.sock")
    try:
        revision = etcd.ask("kv/range", {"key": "YQ=="})["header"]["revision"]
        etcd.ask("kv/compaction", {"revision": revision, "physical": True})
    finally:
        etcd.close()


class _Etcd(http.client.HTTPConnection):
    """Speaks to etcd's HTTP gateway on its Unix socket: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/."""

    def __init__(self, path: Path) -> None:
        super().__init__("etcd")
        self._path = path

    def connect(self) -> None:
        """See HTTPConnection."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self._path))

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a question."""
        self.request("POST", f"/v3/{path}", json.dumps(body))
        answer = self.getresponse()
        text = answer.read()
        assert answer.status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found
