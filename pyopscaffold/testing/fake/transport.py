"""The way from the client to the fake: a transport without a network."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.client.transport import Response, Stream
from pyopscaffold.testing.fake.failure import Failure, NotSimulatedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pyopscaffold.runtime.client.transport import Request
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.testing.fake.calls import Call
    from pyopscaffold.testing.fake.faults import Fault
    from pyopscaffold.testing.fake.server import Server
    from pyopscaffold.testing.fake.watching import Watch

T = TypeVar("T")

_BOOKMARK_EVERY: Final = 60.0


@dataclass(frozen=True)
class Asked:
    """One request that was made; ``verb`` is that of RBAC, ``name`` is empty for lists, watches and creations."""

    verb: str
    kind: GroupVersionKind
    namespace: str
    name: str
    subresource: str = ""

    @property
    def is_write(self) -> bool:
        """Whether it asked for a change."""
        return self.verb not in ("get", "list", "watch")

    def __str__(self) -> str:
        place = "/".join(part for part in (self.namespace, self.name, self.subresource) if part)
        return f"{self.verb} {self.kind.group_resource} {place}".rstrip()


class FakeTransport:
    """A :class:`~pyopscaffold.runtime.client.transport.Transport` to a server in this process."""

    def __init__(self, server: Server, clock: Clock, faults: list[Fault]) -> None:
        self.asked: list[Asked] = []
        self.watches: list[Watch] = []
        self.in_flight = 0
        self.unsimulated: NotSimulatedError | None = None  # a reconciler's errors are caught, and this one must not be
        self._server = server
        self._clock = clock
        self._faults = faults

    async def request(self, request: Request) -> Response:
        """See Transport."""
        self.in_flight += 1
        try:
            await asyncio.sleep(0)  # as with every server, others get their turn meanwhile
            return self._answer(request)
        finally:
            self.in_flight -= 1

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """See Transport."""
        await asyncio.sleep(0)
        opened = self._open(request)
        if isinstance(opened, Response):
            yield Stream(opened.status, opened.headers, _once(opened.body))
            return
        self.watches.append(opened)
        timeout = float(request.query.get("timeoutSeconds") or 3600.0)
        timer = asyncio.create_task(self._keep(opened, timeout))
        try:
            yield Stream(200, {}, opened.chunks())
        finally:
            timer.cancel()
            opened.end()
            self.watches.remove(opened)
            await asyncio.wait([timer])  # "await timer" would hide that we are cancelled ourselves

    async def close(self) -> None:
        """See Transport."""

    def _answer(self, request: Request) -> Response:
        return self._served(request, self._server.handle)

    def _open(self, request: Request) -> Watch | Response:
        return self._served(request, self._server.watch)

    def _served(self, request: Request, serve: Callable[[Call], T]) -> T | Response:
        try:
            call = self._server.read(request)
            if isinstance(call, Response):
                return call
            return self._struck(call) or serve(call)
        except Failure as failure:
            return Response(failure.code, {}, msgspec.json.encode(failure.status()))
        except NotSimulatedError as error:
            self.unsimulated = error
            raise

    def _struck(self, call: Call) -> Response | None:
        self.asked.append(Asked(call.verb, call.resource.kind, call.namespace, call.name, call.subresource))
        fault = next((fault for fault in self._faults if fault.matches(call)), None)
        return None if fault is None else fault.strike()

    async def _keep(self, watch: Watch, timeout: float) -> None:  # noqa: ASYNC109 - the server's own
        """Send bookmarks, and end the watch when its time is up."""
        ends = self._clock.monotonic() + timeout
        while (left := ends - self._clock.monotonic()) > 0:
            await self._clock.sleep(min(left, _BOOKMARK_EVERY))
            if watch.bookmarks and self._clock.monotonic() < ends:
                watch.bookmark()
        watch.end()


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
