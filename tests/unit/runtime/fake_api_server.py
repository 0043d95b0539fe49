"""An API server on loopback that holds ConfigMaps and misbehaves on command.

It knows what client and cache rely on: resourceVersions, paged and streaming lists, watches that resume, bookmarks,
Status bodies. Everything else is the real API server's matter, see tests/cluster.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import uuid
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aiohttp import web

from pyopscaffold.runtime.client.config import ClusterConfig
from pyopscaffold.runtime.client.http import HttpClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pyopscaffold.runtime.clock import ManualClock

_EOF, _RESET = b"", b"reset"
_DEADLINE = 30.0


@dataclass
class Refusal:
    """One answer that a verb gets instead of the right one."""

    code: int
    reason: str = ""
    headers: dict[str, str] = field(default_factory=dict)


class FakeApiServer:
    """``requests`` lists (verb, query) in order; verbs are those of RBAC."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.details: dict[str, Any] = {}
        self.token = ""
        self.streaming_lists = True
        self.silent_about_streaming = False
        self.compacted = 0
        self.page_size = 0
        self.warning = ""
        self.deaf = False
        self.nonsense = False
        self.port = 0
        self._version = 100
        self._history: list[tuple[int, dict[str, Any]]] = []
        self._watches: list[asyncio.Queue[bytes]] = []
        self._refusals: dict[str, list[Refusal | None]] = defaultdict(list)

    @property
    def config(self) -> ClusterConfig:
        """How to reach it."""
        return ClusterConfig(server=f"http://127.0.0.1:{self.port}")

    @property
    def watching(self) -> int:
        """How many watches are open."""
        return len(self._watches)

    def count(self, verb: str) -> int:
        """How often a verb was asked for."""
        return sum(1 for asked, _ in self.requests if asked == verb)

    def refuse(self, verb: str, code: int, *, reason: str = "", times: int = 1, after: int = 0, **headers: str) -> None:
        """Answer the next requests of a verb with an error, once ``after`` more have been served."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._refusals[verb] += [None] * after + [Refusal(code, reason, named)] * times

    def put(self, name: str, *, namespace: str = "default", uid: str = "", **data: str) -> dict[str, Any]:
        """Create or change a ConfigMap, as some other client would."""
        old = self.objects.get((namespace, name))
        self._version += 1
        obj = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": uid or (old["metadata"]["uid"] if old else str(uuid.uuid4())),
                "resourceVersion": str(self._version),
                "managedFields": [{"manager": "kubectl", "operation": "Update"}],
            },
            "data": data,
        }
        self.objects[namespace, name] = obj
        self._record({"type": "MODIFIED" if old else "ADDED", "object": obj})
        return obj

    def delete(self, name: str, *, namespace: str = "default") -> dict[str, Any]:
        """Delete a ConfigMap, as some other client would."""
        obj = self.objects.pop((namespace, name))
        self._version += 1
        metadata = {**obj["metadata"], "resourceVersion": str(self._version)}
        self._record({"type": "DELETED", "object": {**obj, "metadata": metadata}})
        return obj

    def bookmark(self) -> None:
        """Send the version of now to all watches."""
        self._broadcast(self._bookmark())

    def compact(self) -> None:
        """Forget all history: older versions can't be watched from any more."""
        self._version += 1
        self.compacted = self._version

    def end_watches(self) -> None:
        """End all watches cleanly."""
        self._tell(_EOF)

    def reset_watches(self) -> None:
        """Break the connection of all watches."""
        self._tell(_RESET)

    def expire_watches(self) -> None:
        """Send all watches an in-stream 410 and end them."""
        self._broadcast({"type": "ERROR", "object": _status(410, "Expired")})
        self.end_watches()

    def mute_watches(self) -> None:
        """Keep the present watches open, but send them nothing; new watches are fine."""
        self._watches.clear()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        query = dict(request.query)
        namespace, name = request.match_info.get("namespace", ""), request.match_info.get("name", "")
        verb = _verb(request, name, query)
        self.requests.append((verb, query))
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.json() if request.can_read_body else None)
        if self.deaf:
            await asyncio.Future()
        if self.nonsense:
            return web.Response(text="<html>Please log in\n</html>\n")
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return _error(Refusal(401, "Unauthorized"))
        if self._refusals[verb] and (refusal := self._refusals[verb].pop(0)) is not None:
            return _error(refusal, self.details)
        if verb == "watch":
            return await self._watch(request, namespace, query)
        answer = self._answer(verb, namespace, name, query)
        answer.headers.update(self._warnings())
        return answer

    def _warnings(self) -> dict[str, str]:
        return {"Warning": f'299 - "{self.warning}"'} if self.warning else {}

    def _answer(self, verb: str, namespace: str, name: str, query: dict[str, str]) -> web.Response:
        if verb == "list":
            return web.json_response(self._list(namespace, query))
        if verb in {"create", "patch"}:
            body = self.bodies[-1]
            obj = self.put(name or body["metadata"]["name"], namespace=namespace, **body.get("data", {}))
            return web.json_response(obj, status=201 if verb == "create" else 200)
        if (namespace, name) not in self.objects:
            return _error(Refusal(404, "NotFound"))
        if verb == "delete":
            obj = self.delete(name, namespace=namespace)
            return web.json_response(
                {"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"uid": obj["metadata"]["uid"]}}
            )
        return web.json_response(self.objects[namespace, name])

    def _list(self, namespace: str, query: dict[str, str]) -> dict[str, Any]:
        items = [obj for (space, _), obj in sorted(self.objects.items()) if namespace in {"", space}]
        start = int(query.get("continue", "0"))
        end = start + self.page_size if self.page_size else len(items)
        metadata = {"resourceVersion": str(self._version)}
        if end < len(items):
            metadata["continue"] = str(end)
        bare = [{key: value for key, value in obj.items() if key not in {"apiVersion", "kind"}} for obj in items]
        return {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": bare[start:end]}

    async def _watch(self, request: web.Request, namespace: str, query: dict[str, str]) -> web.StreamResponse:
        initial = query.get("sendInitialEvents") == "true"
        if initial and not self.streaming_lists and not self.silent_about_streaming:
            return _error(Refusal(422, "Invalid"))
        since = int(query.get("resourceVersion") or self._version)
        if since < self.compacted:
            return _error(Refusal(410, "Expired"))
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        if initial and self.streaming_lists:
            for obj in self._list(namespace, {})["items"]:
                queue.put_nowait(_line({"type": "ADDED", "object": {"apiVersion": "v1", "kind": "ConfigMap", **obj}}))
            queue.put_nowait(_line(self._bookmark({"k8s.io/initial-events-end": "true"})))
        for version, event in self._history:
            if version > since:
                queue.put_nowait(_line(event))
        self._watches.append(queue)
        response = web.StreamResponse(headers={"Content-Type": "application/json", **self._warnings()})
        await response.prepare(request)
        try:
            while (line := await queue.get()) not in {_EOF, _RESET}:
                await response.write(line)
        finally:
            if queue in self._watches:
                self._watches.remove(queue)
        if line == _RESET and request.transport is not None:
            connection = request.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
        return response

    def _bookmark(self, annotations: dict[str, str] | None = None) -> dict[str, Any]:
        metadata = {"resourceVersion": str(self._version), "annotations": annotations or {}}
        return {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}}

    def _record(self, event: dict[str, Any]) -> None:
        self._history.append((self._version, event))
        self._broadcast(event)

    def _broadcast(self, event: dict[str, Any]) -> None:
        self._tell(_line(event))

    def _tell(self, line: bytes) -> None:
        for queue in self._watches:
            queue.put_nowait(line)


@asynccontextmanager
async def fake_api_server(port: int = 0) -> AsyncIterator[FakeApiServer]:
    """Run one for the length of a block, on a free port if none is given."""
    server = FakeApiServer()
    app = web.Application(client_max_size=2**24)
    for path in ("/api/v1/configmaps", "/api/v1/namespaces/{namespace}/configmaps"):
        app.router.add_route("*", path, server.serve)
    app.router.add_route("*", "/api/v1/namespaces/{namespace}/configmaps/{name}", server.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.port = runner.addresses[0][1]
    try:
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client_of(
    server: FakeApiServer, clock: ManualClock | None = None, *, token_file: Path | None = None
) -> AsyncIterator[HttpClient]:
    """Connect to it for the length of a block."""
    client = HttpClient(replace(server.config, token_file=token_file), clock=clock)
    try:
        yield client
    finally:
        await client.close()


async def until(condition: Callable[[], object], clock: ManualClock | None = None, *, patience: float = 31.0) -> None:
    """Let the loop run until something holds; with a clock, skip pauses of up to ``patience`` seconds."""
    async with asyncio.timeout(_DEADLINE):
        while not condition():
            await asyncio.sleep(0.001)
            if clock is not None and (due := clock.sleepers()) and due[0] <= patience:
                clock.advance(due[0])


def _verb(request: web.Request, name: str, query: dict[str, str]) -> str:
    if request.method == "GET":
        return "get" if name else "watch" if query.get("watch") else "list"
    return {"POST": "create", "PATCH": "patch", "DELETE": "delete"}[request.method]


def _error(refusal: Refusal, details: dict[str, Any] | None = None) -> web.Response:
    body = {**_status(refusal.code, refusal.reason), "details": details or {}}
    return web.json_response(body, status=refusal.code, headers=refusal.headers)


def _status(code: int, reason: str) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": f"refused with {code}",
    }


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"
