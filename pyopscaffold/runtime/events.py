"""Events of events.k8s.io/v1: sent in the background, repeated ones as a series.

Recording never waits and never fails. The first occurrence makes an Event; the second one and later ones patch its
``series``, at most every half minute; a series ends when nothing was added for six minutes (as in client-go). An object
may have 25 different events at once, and another one every five minutes (as client-go's spam filter has it).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pyopscaffold.errors import (
    AlreadyExists,
    ClientError,
    ConnectionFailed,
    Forbidden,
    KubeconfigError,
    NotFound,
    ServerError,
    TooManyRequests,
)
from pyopscaffold.kube.builtin import EVENT
from pyopscaffold.kube.conditions import cut
from pyopscaffold.kube.meta import micro_time
from pyopscaffold.runtime.budget import Budgets

if TYPE_CHECKING:
    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.kube.meta import ObjectMeta
    from pyopscaffold.runtime.client.protocols import Client
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.objects import Meta

QUEUE_MAX = 1000
NOTE_MAX = 1024
"""Bytes of UTF-8: what the API server takes."""
REFRESH = 30.0
SERIES_END = 360.0
TRIES = 4
BURST = 25
REFILL = 300.0
"""Seconds in which an object earns one more event beyond its burst."""
_REASON_MAX = 128
_log = logging.getLogger("pyopscaffold.events")


@dataclass(frozen=True, kw_only=True)
class Regarding:
    """The object an event is about."""

    api_version: str
    kind: str
    name: str
    namespace: str
    uid: str
    resource_version: str = field(default="", compare=False)

    @classmethod
    def of(cls, kind: GroupVersionKind, metadata: ObjectMeta | Meta) -> Regarding:
        """Return the reference to an object of this kind and metadata."""
        return cls(
            api_version=kind.api_version,
            kind=kind.kind,
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            resource_version=metadata.resource_version,
        )

    def reference(self) -> dict[str, str]:
        """Return the core/v1 ObjectReference, in JSON form."""
        fields = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "namespace": self.namespace,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
        }
        return {key: value for key, value in fields.items() if value}


@dataclass(frozen=True)
class _What:
    """What makes two occurrences the same event."""

    regarding: Regarding
    type: Literal["Normal", "Warning"]
    reason: str
    note: str


@dataclass
class _Series:
    name: str
    count: int
    sent: int
    sent_at: float
    seen_at: float
    seen: datetime


class EventRecorder:
    """Sends the events of one controller; ``run`` must be running for them to leave."""

    def __init__(self, client: Client, *, controller: str, instance: str, clock: Clock) -> None:
        self._client = client
        self._controller = controller
        self._instance = instance[:_REASON_MAX]
        self._clock = clock
        self._waiting: deque[tuple[_What, datetime]] = deque(maxlen=QUEUE_MAX)
        self._series: dict[_What, _Series] = {}
        self._budgets: Budgets[str] = Budgets(burst=BURST, refill=REFILL, clock=clock)
        self._stamp = 0
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = False

    def record(self, regarding: Regarding, type: Literal["Normal", "Warning"], reason: str, message: str) -> None:  # noqa: A002 - the field's name
        """Note an occurrence; may be called from any thread. When a thousand wait, the oldest is dropped."""
        what = _What(regarding, type, reason[:_REASON_MAX], _note(message))
        self._waiting.append((what, self._clock.now()))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.set)

    async def run(self) -> None:
        """Send what is recorded, until ``close``."""
        self._loop = asyncio.get_running_loop()
        while not (self._closing and not self._waiting):
            await self._send_waiting()
            self._news.clear()
            if self._waiting or self._closing:
                continue
            await self._wait_for_news()
            await self._refresh()
        await self._refresh(last=True)

    def close(self) -> None:
        """Have ``run`` send what is left, and end."""
        self._closing = True
        self._news.set()

    async def _wait_for_news(self) -> None:
        """Until something is recorded; while a series has unsent occurrences, until it is time to send them."""
        if not self._series:
            await self._news.wait()
            return
        waits = [asyncio.ensure_future(self._news.wait()), asyncio.ensure_future(self._clock.sleep(REFRESH))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _send_waiting(self) -> None:
        while self._waiting:
            what, when = self._waiting.popleft()
            series = self._series.get(what)
            if series is None:
                if self._affords(what.regarding):
                    await self._create(what, when)
                continue
            series.count += 1
            series.seen, series.seen_at = when, self._clock.monotonic()
            if series.sent == 1 or series.seen_at - series.sent_at >= REFRESH:
                await self._update(what, series)

    async def _refresh(self, *, last: bool = False) -> None:
        """Send series that grew since they were sent, and end those that are quiet."""
        now = self._clock.monotonic()
        for what, series in list(self._series.items()):
            ended = now - series.seen_at >= SERIES_END
            if series.count > series.sent and (last or ended or now - series.sent_at >= REFRESH):
                await self._update(what, series)
            if ended:
                self._series.pop(what, None)

    def _affords(self, regarding: Regarding) -> bool:
        """Whether the object may have another event; takes it from its budget then."""
        affords = self._budgets.take(regarding.uid)
        if self._budgets.refusals(regarding.uid) == 1:
            _log.warning("%s %s has too many different events, some are dropped", regarding.kind, regarding.name)
        return affords

    async def _create(self, what: _What, when: datetime) -> None:
        self._stamp = max(self._stamp + 1, int(when.timestamp() * 1e6))  # two in one microsecond are two events
        name = f"{what.regarding.name[:230]}.{self._stamp:x}"
        event: dict[str, Any] = {
            "apiVersion": EVENT.api_version,
            "kind": EVENT.kind,
            "metadata": {"name": name, "namespace": what.regarding.namespace or "default"},
            "eventTime": micro_time(when),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": "Reconcile",
            "reason": what.reason,
            "regarding": what.regarding.reference(),
            "note": what.note,
            "type": what.type,
        }
        now = self._clock.monotonic()
        if await self._try(what, create=event):
            self._series[what] = _Series(name, count=1, sent=1, sent_at=now, seen_at=now, seen=when)

    async def _update(self, what: _What, series: _Series) -> None:
        count = series.count
        patch = {"series": {"count": count, "lastObservedTime": micro_time(series.seen)}}
        series.sent, series.sent_at = count, self._clock.monotonic()
        if not await self._try(what, patch=patch, name=series.name):
            self._series.pop(what, None)

    async def _try(
        self,
        what: _What,
        *,
        create: dict[str, Any] | None = None,
        patch: dict[str, Any] | None = None,
        name: str = "",
    ) -> bool:
        """Send, again after what may pass; whether it got there."""
        namespace = what.regarding.namespace or "default"
        for attempt in range(TRIES):
            try:
                if create is not None:
                    await self._client.create(create, field_manager=self._controller.rpartition("/")[2])
                elif patch is not None:
                    await self._client.patch(EVENT, name, patch, namespace=namespace)
            except AlreadyExists:
                return True
            except NotFound:
                return False  # an Event that outlived its hour
            except (ConnectionFailed, KubeconfigError, ServerError, TooManyRequests) as error:
                if attempt + 1 == TRIES or self._closing:
                    _log.warning("event %s not sent: %s", what.reason, error)
                    return False
                await self._clock.sleep(2.0**attempt)
            except ClientError as error:
                if not (isinstance(error, Forbidden) and error.namespace_terminating):
                    _log.warning("event %s not sent: %s", what.reason, error)
                return False
            else:
                return True
        return False


def _note(message: str) -> str:
    note = cut(message, NOTE_MAX)
    text = note.encode()
    return note if len(text) <= NOTE_MAX else text[: NOTE_MAX - len("…".encode())].decode(errors="ignore") + "…"
