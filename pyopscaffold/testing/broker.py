"""One control plane for all workers of a pytest-xdist run.

The controller outlives its workers, so it owns the control plane; it starts it when the first worker asks, over a
Unix socket in a private folder.
"""

from __future__ import annotations

import json
import shutil
import socket
import socketserver
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.children import private_folder
from pyopscaffold.testing.server import ApiServer, Identity

if TYPE_CHECKING:
    from pyopscaffold.testing.controlplane import ControlPlane


class Broker:
    """Lends the API server of ``plane`` to whoever connects to ``address``, until it is stopped."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._starting = threading.Lock()
        self._folder = private_folder()
        self.address = str(self._folder / "broker.sock")
        self._listener = _Listener(self.address, _Answer)
        self._listener.broker = self
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.1}, name="envtest-broker", daemon=True
        )
        self._thread.start()

    def answer(self) -> bytes:
        """Start the control plane if it does not run yet, and say in JSON where it is, or why it is not."""
        with self._starting:
            try:
                return encode(self._plane.start())
            except EnvtestError as error:
                return json.dumps({"error": str(error), "hint": error.hint}).encode()

    def stop(self) -> None:
        """Take no more questions, and stop the control plane."""
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()
        with self._starting:
            self._plane.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def borrow(address: str) -> ApiServer:
    """Ask the broker at ``address`` for its API server.

    Raises:
        EnvtestError: it could not start one.

    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        with connection.makefile("rb") as stream:
            answer = stream.read()
    return decode(answer)


def encode(server: ApiServer) -> bytes:
    """Write a running API server as JSON."""
    return json.dumps(asdict(server), default=str).encode()


def decode(answer: bytes) -> ApiServer:
    """Read what ``encode`` wrote, or raise the error that came in its place."""
    said = json.loads(answer)
    if "error" in said:
        raise EnvtestError(said["error"], hint=said["hint"])
    identities = tuple(Identity(**{**one, "groups": tuple(one["groups"])}) for one in said["identities"])
    paths = {name: Path(said[name]) for name in ("directory", "kubectl")}
    return ApiServer(**{**said, **paths, "identities": identities})


class _Listener(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    broker: Broker


class _Answer(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server = self.server
        if isinstance(server, _Listener):
            self.request.sendall(server.broker.answer())
