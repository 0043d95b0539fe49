"""Keeping a copy up to date: list once, then follow the watch through whatever happens to it.

A reflector never gives up. It resumes from the last version it has seen; lists anew when that has expired; comes back
after refusals (a token may be rotated, a role granted, a CRD installed) with growing, jittered delays; and replaces a
connection on which nothing, not even a bookmark, has come for a while, since a dead one looks just like a quiet one.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from pyopscaffold.errors import ApiError, BadRequest, ClientError, Expired, Invalid, KubeconfigError
from pyopscaffold.runtime.clock import backoff
from pyopscaffold.runtime.objects import Stored, parse_meta

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.protocols import Client, WatchEvent
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

INACTIVITY = 70.0
"""Seconds without any event after which a watch counts as dead: the server sends a bookmark about every 60."""

_SERVER_TIMEOUT = (300.0, 600.0)
_FIRST_DELAY, _LONGEST_DELAY = 0.8, 10.0
_HEALTHY_AFTER = 10.0
_INITIAL_END = "k8s.io/initial-events-end"


class Sink(Protocol):
    """Where a reflector puts what it learns about its scope (one namespace, or '' for all)."""

    def read(self, text: msgspec.Raw) -> Stored:
        """Read an object's JSON text; raises ``msgspec.MsgspecError``."""
        ...

    def replace(self, namespace: str, items: list[Stored], version: int) -> None:
        """Take a whole list as of ``version``: what it lacks is gone, unless it is newer than the list."""
        ...

    def put(self, item: Stored) -> None:
        """Take an object that was added or changed."""
        ...

    def remove(self, item: Stored) -> None:
        """Take an object's last state: it is deleted, or no longer selected."""
        ...


class Reflector:
    """Follows one kind in one scope and tells a sink.

    ``synced`` is set once the sink has the first list, ``tried`` already when the first attempt has failed; ``failure``
    is the error that the last attempt ended with (None as soon as events flow again), ``relists`` counts lists after
    the first, ``events`` what the watch has brought.
    """

    def __init__(
        self,
        client: Client,
        kind: GroupVersionKind,
        sink: Sink,
        *,
        clock: Clock,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> None:
        self.synced = asyncio.Event()
        self.tried = asyncio.Event()
        self.failure: Exception | None = None
        self.relists = 0
        self.events = 0
        self._client = client
        self._kind = kind
        self._sink = sink
        self._clock = clock
        self._namespace = namespace
        self._labels = labels
        self._fields = fields
        self._metadata_only = metadata_only
        self._version = ""  # to resume from; empty: list anew
        self._initial: dict[tuple[str, str], Stored] | None = None  # what a streaming list has brought so far
        self._streaming_list = True
        self._relist_wanted = False
        self._failures = 0
        self._last_event = 0.0
        self._scope: asyncio.Timeout | None = None

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            if self._relist_wanted:
                self._relist_wanted, self._version = False, ""
            started, before, delay = self._clock.monotonic(), self.events, 0.0
            try:
                watched = await self._attempt()
            except TimeoutError:
                log.debug("%s: we ended the watch ourselves, to list or to connect anew", self._kind.group_kind)
            except Expired as error:
                delay = self._expired(error)
            except (ClientError, KubeconfigError, msgspec.MsgspecError) as error:
                delay = self._failed(error)
            else:
                if self.events > before or self._clock.monotonic() - started >= _HEALTHY_AFTER:
                    self._failures = 0
                elif watched:
                    delay = self._next_delay()  # a server that hangs up at once must not be called in a loop
            if delay:
                await self._pause(delay)

    def relist(self) -> None:
        """List anew as soon as possible, and go on from there."""
        self._relist_wanted = True
        self._end_scope()

    async def _attempt(self) -> bool:
        """Make one step; whether it was a watch, which the server has ended in peace."""
        if self._version:
            await self._follow()
        elif self._streaming_list:
            return await self._stream_list()
        else:
            await self._list()
            return False
        return True

    async def _stream_list(self) -> bool:
        self._initial = {}
        try:
            await self._follow()
        except (BadRequest, Invalid):
            self._streaming_list = False  # the server says that it has none
            return False
        except TimeoutError:
            # one too old to know the parameter never ends the list, and falls silent
            self._streaming_list = not self._initial_pending() or self._relist_wanted
            raise
        else:
            self._streaming_list = not self._initial_pending()
            return self._streaming_list
        finally:
            self._initial = None

    def _initial_pending(self) -> bool:
        return self._initial is not None

    async def _list(self) -> None:
        items: list[Stored] = []
        token = version = ""
        while True:
            page = await self._client.list_page(
                self._kind,
                namespace=self._namespace,
                labels=self._labels,
                fields=self._fields,
                continue_=token,
                metadata_only=self._metadata_only,
            )
            items += map(self._sink.read, page.items)
            version = page.resource_version
            if not (token := page.continue_):
                break
        self._listed(items, version)

    async def _follow(self) -> None:
        events = self._client.watch(
            self._kind,
            namespace=self._namespace,
            labels=self._labels,
            fields=self._fields,
            resource_version=self._version,
            initial_events=self._initial is not None,
            timeout=random.uniform(*_SERVER_TIMEOUT),  # noqa: S311 - spreads reconnects
            metadata_only=self._metadata_only,
        )
        async with self._endable(), aclosing(events):
            self._last_event = self._clock.monotonic()
            watchdog = asyncio.create_task(self._watch_silence())
            try:
                async for event in events:
                    self._last_event = self._clock.monotonic()
                    self._take(event)
            finally:
                watchdog.cancel()

    def _take(self, event: WatchEvent) -> None:
        self.failure = None
        if event.type == "BOOKMARK":
            meta = parse_meta(event.object)
            if self._initial is None:
                self._version = meta.resource_version
            elif meta.annotations.get(_INITIAL_END) == "true":
                items, self._initial = list(self._initial.values()), None
                self._listed(items, meta.resource_version)
            return
        item = self._sink.read(event.object)
        if self._initial is not None:
            key = (item.meta.namespace, item.meta.name)
            if event.type == "DELETED":
                self._initial.pop(key, None)
            else:
                self._initial[key] = item
            return
        self.events += 1
        self._failures = 0
        self._version = item.meta.resource_version
        if event.type == "DELETED":
            self._sink.remove(item)
        else:
            self._sink.put(item)

    def _listed(self, items: list[Stored], version: str) -> None:
        if self.synced.is_set():
            self.relists += 1
        self.failure = None
        self._version = version
        self._sink.replace(self._namespace, items, int(version) if version.isdecimal() else 0)
        self.synced.set()
        self.tried.set()

    async def _watch_silence(self) -> None:
        while (silent := self._clock.monotonic() - self._last_event) < INACTIVITY:
            await self._clock.sleep(INACTIVITY - silent)
        log.info("%s: nothing heard for %.0f s, reconnecting", self._kind.group_kind, silent)
        self._end_scope()

    async def _pause(self, delay: float) -> None:
        try:
            async with self._endable():
                await self._clock.sleep(delay)
        except TimeoutError:
            log.debug("%s: pause cut short", self._kind.group_kind)

    @asynccontextmanager
    async def _endable(self) -> AsyncIterator[None]:
        """Have the body end in a TimeoutError when ``_end_scope`` is called: time is our clock's, not the loop's."""
        try:
            async with asyncio.timeout(None) as self._scope:
                yield
        finally:
            self._scope = None

    def _end_scope(self) -> None:
        if self._scope is not None and not self._scope.expired():  # asked twice
            self._scope.reschedule(asyncio.get_running_loop().time())

    def _expired(self, error: Expired) -> float:
        log.info("%s: version %s has expired, listing anew", self._kind.group_kind, self._version or "of the list")
        self._version = ""
        delay = self._next_delay(error)
        return delay if self._failures > 1 else 0.0

    def _failed(self, error: Exception) -> float:
        self.failure = error
        self.tried.set()
        delay = self._next_delay(error)
        log.warning("%s: %s; next try in %.1f s", self._kind.group_kind, error, delay)
        return delay

    def _next_delay(self, error: Exception | None = None) -> float:
        self._failures += 1
        delay = backoff(_FIRST_DELAY, self._failures - 1, _LONGEST_DELAY)
        delay *= random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries
        asked = error.retry_after if isinstance(error, ApiError) else None
        return max(delay, asked or 0.0)
