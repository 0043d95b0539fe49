"""Watches: what a client that follows a kind is sent, line by line.

Source: k8s.io/apiserver/pkg/storage/cacher.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from pyopscaffold.errors import ConnectionFailed
from pyopscaffold.testing.fake.failure import expired

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pyopscaffold.testing.fake.kinds import Resource
    from pyopscaffold.testing.fake.selection import Selection
    from pyopscaffold.testing.fake.store import Change, Store

Json = dict[str, Any]

_INITIAL_END = "k8s.io/initial-events-end"


class Watch:
    """One open watch. ``render`` gives objects the version that was asked for; ``bookmarks`` says if any are wanted."""

    def __init__(
        self, store: Store, resource: Resource, selection: Selection, render: Callable[[Json], Json], *, bookmarks: bool
    ) -> None:
        self.resource = resource
        self.bookmarks = bookmarks
        self._store = store
        self._selection = selection
        self._render = render
        self._lines: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._error: Exception | None = None

    @property
    def idle(self) -> bool:
        """Whether everything was taken in, and the client waits for more."""
        return not self._lines and self._waiter is not None and not self._waiter.done()

    def start(self, version: str, *, initial: bool) -> None:
        """Begin after a version; without one, or with ``initial``, with everything that is there."""
        since = int(version) if version.isdecimal() else 0
        if since and not initial:
            if since < self._store.forgotten:
                gone = expired(f"too old resource version: {version} ({self._store.forgotten})")
                self._send("ERROR", gone.status())
                self.end()
                return
            for change in self._store.since(since, self.resource.table):
                self.follow(change)
        else:
            for _, obj in self._store.select(self.resource.table, self._selection.namespace):
                if self._selection.holds(obj):
                    self._send("ADDED", self._render(obj))
            if initial:
                self.bookmark({_INITIAL_END: "true"})
        if not self._ended:
            self._store.followers.append(self.follow)

    def follow(self, change: Change) -> None:
        """Send a change, if it concerns the objects that are selected."""
        if change.table != self.resource.table:
            return
        was = change.old is not None and self._selection.holds(change.old)
        holds = not change.removed and self._selection.holds(change.new)
        if holds:
            self._send("MODIFIED" if was else "ADDED", self._render(change.new))
        elif was and change.old is not None:
            last = change.new if change.removed else change.old
            metadata = {**last["metadata"], "resourceVersion": str(change.version)}
            self._send("DELETED", self._render({**last, "metadata": metadata}))

    def bookmark(self, annotations: dict[str, str] | None = None) -> None:
        """Tell how far the watch has come."""
        metadata: Json = {"resourceVersion": str(self._store.version), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        kind = self.resource.kind
        self._send("BOOKMARK", {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata})

    def end(self, error: str = "") -> None:
        """End after what was sent: in peace, or with a broken connection."""
        self._ended = True
        self._error = ConnectionFailed(error) if error else None
        if self.follow in self._store.followers:
            self._store.followers.remove(self.follow)
        self._wake()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what is sent."""
        while True:
            if self._lines:
                sent, self._lines = self._lines, []
                yield b"".join(sent)
            elif self._error is not None:
                raise self._error
            elif self._ended:
                return
            else:
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter

    def _send(self, type_: str, obj: Json) -> None:
        self._lines.append(msgspec.json.encode({"type": type_, "object": obj}) + b"\n")
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
