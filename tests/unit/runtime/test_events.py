"""Events by a clock that is moved by hand; what would be sent is kept in a list."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import ConnectionFailed, Forbidden, KubeconfigError, NotFound
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.events import BURST, QUEUE_MAX, REFILL, EventRecorder, Regarding

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

THING = Regarding(api_version="example.com/v1", kind="Thing", name="one", namespace="ns", uid="u1")


class Sink:
    """Takes events and patches; raises the errors that it was given, one for each request."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.counts: list[int] = []
        self.errors: list[Exception] = []

    async def create(self, event: dict[str, Any], *, field_manager: str) -> dict[str, Any]:
        """See Client."""
        if self.errors:
            raise self.errors.pop(0)
        self.created.append(event)
        return event

    async def patch(self, kind: Any, name: str, patch: dict[str, Any], *, namespace: str) -> dict[str, Any]:
        """See Client."""
        if self.errors:
            raise self.errors.pop(0)
        self.counts.append(patch["series"]["count"])
        return patch


@pytest.fixture
def clock() -> ManualClock:
    """Give a clock that stands still."""
    return ManualClock()


@pytest.fixture
def sink() -> Sink:
    """Give an API server that takes everything."""
    return Sink()


@pytest.fixture
def recorder(sink: Any, clock: ManualClock) -> EventRecorder:
    """Give a recorder of the controller example.com/thing."""
    return EventRecorder(sink, controller="example.com/thing", instance="pod-1", clock=clock)


@asynccontextmanager
async def sending(recorder: EventRecorder) -> AsyncIterator[None]:
    """Have the recorder send while the block lasts, and finish after it."""
    task = asyncio.ensure_future(recorder.run())
    await settle()
    yield
    recorder.close()
    await task


async def settle() -> None:
    """Let everything run that can run now."""
    for _ in range(30):
        await asyncio.sleep(0)


async def test_event_has_what_the_api_asks_for(recorder: EventRecorder, sink: Sink) -> None:
    """The first occurrence makes an events.k8s.io/v1 Event with all required fields."""
    async with sending(recorder):
        recorder.record(THING, "Warning", "TooBig", "far too\nbig " + "x" * 2000)
    (event,) = sink.created
    assert event["metadata"]["namespace"] == "ns"
    assert event["metadata"]["name"].startswith("one.")
    assert (event["type"], event["reason"], event["action"]) == ("Warning", "TooBig", "Reconcile")
    assert (event["reportingController"], event["reportingInstance"]) == ("example.com/thing", "pod-1")
    assert event["eventTime"] == "2026-01-01T00:00:00.000000Z"
    assert event["regarding"]["uid"] == "u1"
    assert len(event["note"]) <= 1024
    assert event["note"].startswith("far too big")


async def test_event_on_a_cluster_scoped_object(recorder: EventRecorder, sink: Sink) -> None:
    """Events live in a namespace: those on cluster-scoped objects go to default."""
    thing = Regarding(api_version="example.com/v1", kind="Thing", name="one", namespace="", uid="u1")
    async with sending(recorder):
        recorder.record(thing, "Normal", "Made", "made")
    assert sink.created[0]["metadata"]["namespace"] == "default"


async def test_hot_loop_costs_few_requests(recorder: EventRecorder, sink: Sink, clock: ManualClock) -> None:
    """A thousand times the same are one creation, one patch at the second, and one more each half minute."""
    async with sending(recorder):
        for second in range(100):
            for _ in range(10):
                recorder.record(THING, "Normal", "Looked", "looked")
            await settle()
            clock.advance(1)
            assert len(sink.counts) <= 2 + second // 30
    assert len(sink.created) == 1
    assert sink.counts[0] == 2
    assert sink.counts[-1] == 1000


async def test_series_ends_after_six_quiet_minutes(recorder: EventRecorder, sink: Sink, clock: ManualClock) -> None:
    """The same event long after the last one is a new one."""
    async with sending(recorder):
        recorder.record(THING, "Normal", "Looked", "looked")
        await settle()
        for _ in range(13):
            clock.advance(30)
            await settle()
        recorder.record(THING, "Normal", "Looked", "looked")
    assert len(sink.created) == 2
    assert sink.created[0]["metadata"]["name"] != sink.created[1]["metadata"]["name"]


@pytest.mark.parametrize("error", [ConnectionFailed("refused"), KubeconfigError("the credential plugin failed")])
async def test_outage_is_sat_out(recorder: EventRecorder, sink: Sink, clock: ManualClock, error: Exception) -> None:
    """When the server can't be reached, or our credentials can't be had, an event is sent again a little later."""
    sink.errors = [error, error]
    async with sending(recorder):
        recorder.record(THING, "Normal", "Made", "made")
        await settle()
        for _ in range(5):
            clock.advance(1)
            await settle()
        assert len(sink.created) == 1


async def test_refusal_costs_only_the_event(recorder: EventRecorder, sink: Sink) -> None:
    """An event that the server refuses (a namespace on its way out) is dropped, and the next one is sent."""
    sink.errors = [Forbidden("the namespace is terminating")]
    async with sending(recorder):
        recorder.record(THING, "Normal", "Lost", "lost")
        recorder.record(THING, "Normal", "Sent", "sent")
    assert [event["reason"] for event in sink.created] == ["Sent"]


async def test_expired_event_starts_anew(recorder: EventRecorder, sink: Sink, clock: ManualClock) -> None:
    """The server forgets Events after an hour: a series without its Event begins a new one."""
    async with sending(recorder):
        recorder.record(THING, "Normal", "Looked", "looked")
        await settle()
        sink.errors = [NotFound("expired")]
        recorder.record(THING, "Normal", "Looked", "looked")
        await settle()
        recorder.record(THING, "Normal", "Looked", "looked")
    assert len(sink.created) == 2


@pytest.mark.parametrize(("message", "note"), [("a" * 2000, "a" * 1021 + "…"), ("ü" * 600, "ü" * 510 + "…")])
async def test_long_note_is_cut_to_what_the_server_takes(
    recorder: EventRecorder, sink: Sink, message: str, note: str
) -> None:
    """The server counts a note's bytes, 1024 at most, not its characters."""
    async with sending(recorder):
        recorder.record(THING, "Normal", "Long", message)
    assert [event["note"] for event in sink.created] == [note]


async def test_recording_works_from_any_thread(recorder: EventRecorder, sink: Sink) -> None:
    """A plain def reconcile runs in a thread, and records from there."""
    async with sending(recorder):
        thread = threading.Thread(target=recorder.record, args=(THING, "Normal", "Made", "made"))
        thread.start()
        thread.join()
        await settle()
        assert len(sink.created) == 1


async def test_flood_drops_the_oldest(recorder: EventRecorder, sink: Sink) -> None:
    """Recording never blocks and never grows without bound."""
    for number in range(QUEUE_MAX + 5):
        recorder.record(replace(THING, uid=f"u{number}"), "Normal", "Made", f"made {number}")
    async with sending(recorder):
        pass
    assert len(sink.created) == QUEUE_MAX
    assert sink.created[0]["note"] == "made 5"


async def test_an_object_has_so_many_events(
    recorder: EventRecorder, sink: Sink, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Notes that differ make no series: an object has 25 of them, then one in five minutes; others have theirs."""

    async def record(first: int, last: int) -> list[str]:
        before = len(sink.created)
        for number in range(first, last):
            recorder.record(THING, "Normal", "Looked", f"looked {number}")
        await settle()
        return [event["note"] for event in sink.created[before:]]

    async with sending(recorder):
        assert await record(0, 100) == [f"looked {number}" for number in range(BURST)]
        recorder.record(replace(THING, name="two", uid="u2"), "Normal", "Looked", "looked")
        await settle()
        assert sink.created[-1]["regarding"]["uid"] == "u2"
        clock.advance(REFILL)
        assert await record(100, 110) == ["looked 100"]
        clock.advance(REFILL * BURST)
        assert len(await record(110, 200)) == BURST
    assert caplog.text.count("Thing one has too many different events") == 3


async def test_a_series_costs_no_budget(recorder: EventRecorder, sink: Sink, clock: ManualClock) -> None:
    """However often the same is repeated, something new is still told."""
    async with sending(recorder):
        for _ in range(100):
            recorder.record(THING, "Normal", "Looked", "looked")
        recorder.record(THING, "Warning", "Broken", "broken")
    assert [event["reason"] for event in sink.created] == ["Looked", "Broken"]
    assert sink.counts[-1] == 100


async def test_what_waits_is_sent_at_the_end(recorder: EventRecorder, sink: Sink) -> None:
    """What was recorded until the end leaves before it: new events, and counts that a patch had not told yet."""
    for _ in range(3):
        recorder.record(THING, "Normal", "Looked", "looked")
    recorder.record(THING, "Normal", "Stopping", "stopping")
    recorder.close()
    await recorder.run()
    assert [event["reason"] for event in sink.created] == ["Looked", "Stopping"]
    assert len({event["metadata"]["name"] for event in sink.created}) == 2  # though of the same moment
    assert sink.counts == [2, 3]
