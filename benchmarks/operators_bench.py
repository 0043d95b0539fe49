"""An API server with custom objects on it, and who sees when their statuses follow: for benchmarks/operators.py."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks.operators_kinds import Operator, Process
from pyopscaffold.api import GroupVersionKind
from pyopscaffold.errors import AlreadyExists, ConnectionFailed, Expired, ServerError, TooManyRequests

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from pyopscaffold.runtime.client.http import HttpClient
    from pyopscaffold.testing import ApiServer

NOTE = GroupVersionKind("bench.example.com", "v1", "Note")
NAMESPACE = "bench"
TEXT_BYTES = 600
"""With its metadata, a Note is about 1 KB of JSON without managedFields."""
WRITERS = 16
WITHIN = 7200.0
"""Seconds; on two cores the API server takes in some hundred objects a second."""

_OBJECT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "notes.bench.example.com"},
    "spec": {
        "group": NOTE.group,
        "scope": "Namespaced",
        "names": {"kind": "Note", "listKind": "NoteList", "plural": "notes", "singular": "note"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _OBJECT, "status": _OBJECT}}},
            }
        ],
    },
}


class _Meta(msgspec.Struct):
    name: str = ""
    generation: int = 0
    resourceVersion: str = ""  # noqa: N815 - JSON's


class _Status(msgspec.Struct, frozen=True):
    observedGeneration: int = 0  # noqa: N815 - JSON's
    started: int = 0


class _Note(msgspec.Struct):
    metadata: _Meta
    status: _Status = _Status()


_decode = msgspec.json.Decoder(_Note).decode


class Observer:
    """Follows the Notes: which statuses have caught up with their specs, and when."""

    def __init__(self) -> None:
        self.behind: set[str] = set()
        self.started: dict[tuple[str, int], float] = {}
        self.followed: dict[tuple[str, int], float] = {}
        self._all = asyncio.Event()

    async def run(self, client: HttpClient) -> None:
        """Watch until cancelled."""
        version = ""
        while True:
            events = client.watch(NOTE, namespace=NAMESPACE, resource_version=version, timeout=WITHIN)
            try:
                async with aclosing(events):
                    async for event in events:
                        note = _decode(event.object)
                        version = note.metadata.resourceVersion
                        if event.type != "BOOKMARK":
                            self._take(note, gone=event.type == "DELETED")
            except Expired:  # more changes than the server remembers: from the start
                version = ""

    def expect(self, names: Sequence[str]) -> None:
        """Count these as behind until their statuses follow."""
        self.behind.update(names)
        self._all.clear()

    async def all_followed(self, process: Process) -> None:
        """Wait until none is behind."""
        deadline = time.monotonic() + WITHIN
        while time.monotonic() < deadline:
            process.check()
            try:
                await asyncio.wait_for(self._all.wait(), 2)
            except TimeoutError:
                continue
            return
        raise TimeoutError(f"{len(self.behind)} objects are not ready after {WITHIN:.0f} s")

    def _take(self, note: _Note, *, gone: bool) -> None:
        name, generation = note.metadata.name, note.metadata.generation
        if not gone and note.status.observedGeneration != generation:
            return
        key = (name, generation)
        self.followed.setdefault(key, time.time())
        self.started.setdefault(key, note.status.started / 1e6)
        self.behind.discard(name)
        if not self.behind:
            self._all.set()


class Bench:
    """An API server with Notes on it."""

    def __init__(self, server: ApiServer, client: HttpClient, folder: Path) -> None:
        self.server = server
        self.client = client
        self._folder = folder
        self._texts = 0

    def start(self, operator: Operator) -> Process:
        """Start an operator for the namespace."""
        log = self._folder / f"{operator.name}.log"
        return Process(operator, kubeconfig=self.server.kubeconfig(), namespace=NAMESPACE, log=log)

    async def warm_up(self, count: int) -> None:
        """Make so many Notes and delete them, so that the server has done all this before."""
        await self._each([f"warm-up-{index:05}" for index in range(count)], self._create)
        rest = self.server.client(timeout=WITHIN)
        await asyncio.to_thread(rest.request, "DELETE", f"/apis/bench.example.com/v1/namespaces/{NAMESPACE}/notes")
        rest.close()

    @asynccontextmanager
    async def notes(self, count: int) -> AsyncIterator[tuple[list[str], Observer]]:
        """Give so many fresh Notes; they go with the control plane."""
        observer = Observer()
        names = [f"note-{index:05}" for index in range(count)]
        await self._each(names, self._create)
        watching = asyncio.create_task(observer.run(self.client))
        observer.expect(names)
        try:
            yield names, observer
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def update(self, names: Sequence[str]) -> None:
        """Give each of them another text."""
        await self._each(names, self.change)

    async def change(self, name: str) -> int:
        """Give one of them another text; returns its generation."""
        answer = await self.client.patch(NOTE, name, {"spec": {"text": self._text()}}, namespace=NAMESPACE)
        generation: int = answer["metadata"]["generation"]
        return generation

    async def _create(self, name: str) -> None:
        body = {
            "apiVersion": NOTE.api_version,
            "kind": NOTE.kind,
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"text": self._text()},
        }
        await self.client.create(body, field_manager="bench")

    def _text(self) -> str:
        self._texts += 1
        return f"{self._texts:<{TEXT_BYTES}}."

    async def _each(self, names: Sequence[str], act: Callable[[str], Any]) -> None:
        waiting = iter(names)

        async def write() -> None:
            for name in waiting:
                await _insist(act, name)

        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(write())


async def _insist(act: Callable[[str], Any], name: str) -> None:
    """Act until the server has time for it: with 50,000 objects, one request in many waits for longer than a minute."""
    while True:
        try:
            await act(name)
        except AlreadyExists:  # it was made, and only the answer came too late
            return
        except (ServerError, ConnectionFailed, TooManyRequests):
            await asyncio.sleep(1)
        else:
            return
