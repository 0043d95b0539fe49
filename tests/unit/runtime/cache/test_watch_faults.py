"""What the cache does when lists and watches go wrong, against a server that misbehaves on command."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import Forbidden
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime.cache import Cache, Delta, Informer
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.watch import INACTIVITY
from tests.unit.runtime.fake_api_server import FakeApiServer, client_of, fake_api_server, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Watched:
    """A running cache of ConfigMaps, with the changes it has reported as (old name or '', new name or '')."""

    def __init__(self, server: FakeApiServer, informer: Informer, clock: ManualClock) -> None:
        self.server = server
        self.informer = informer
        self.clock = clock
        self.deltas: list[Delta] = []
        informer.add_handler(self.deltas.append)

    @property
    def names(self) -> set[str]:
        """The objects that the cache holds."""
        return {item.meta.name for item in self.informer.list()}

    @property
    def deleted(self) -> list[str]:
        """The uids whose deletion was reported, in order."""
        return [delta.old.meta.uid for delta in self.deltas if delta.old is not None and delta.new is None]

    @property
    def pause(self) -> float:
        """The pause before the next try; 0 while there is none. A watch that is asked for has INACTIVITY, or nearly."""
        return next((due for due in self.clock.sleepers() if due < INACTIVITY / 2), 0.0)

    def holds(self, *names: str) -> bool:
        """Whether the cache holds exactly these."""
        return self.names == set(names)


@asynccontextmanager
async def watching(
    server: FakeApiServer, *, synced: bool = True, token_file: Path | None = None
) -> AsyncIterator[Watched]:
    """Run a cache over a server for the length of a block."""
    clock = ManualClock()
    async with client_of(server, clock, token_file=token_file) as client:
        cache = Cache(client, clock=clock)
        watched = Watched(server, cache.informer(CONFIG_MAP), clock)
        running = asyncio.create_task(cache.run())
        try:
            if synced:
                await until(lambda: watched.informer.synced and server.watching == 1)
            yield watched
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """Give a server that holds one object."""
    async with fake_api_server() as server:
        server.put("first")
        yield server


async def test_streaming_list_is_one_request(server: FakeApiServer) -> None:
    """A server with streaming lists is asked once: the same watch brings the list and the changes."""
    async with watching(server) as watched:
        server.put("second")
        await until(lambda: watched.holds("first", "second"))
    assert [verb for verb, _ in server.requests] == ["watch"]
    assert [delta.initial for delta in watched.deltas] == [True, False]


async def test_refused_streaming_list_falls_back_to_pages(server: FakeApiServer) -> None:
    """A server that refuses streaming lists is asked for pages, and for as many as there are."""
    server.streaming_lists = False
    server.page_size = 2
    for name in ("b", "c", "d", "e"):
        server.put(name)
    async with watching(server) as watched:
        assert watched.holds("first", "b", "c", "d", "e")
        assert server.count("list") == 3


async def test_ignored_streaming_list_falls_back_to_pages(server: FakeApiServer) -> None:
    """A server too old to know of streaming lists never ends one: silence leads to pages."""
    server.streaming_lists = False
    server.silent_about_streaming = True
    async with watching(server, synced=False) as watched:
        await until(lambda: server.watching == 1 and watched.clock.sleepers())
        watched.clock.advance(INACTIVITY)
        await until(lambda: watched.holds("first"), watched.clock)


async def test_clean_end_resumes(server: FakeApiServer) -> None:
    """After a clean end the watch goes on from the last version, without a list."""
    async with watching(server) as watched:
        server.end_watches()
        await until(lambda: server.watching == 0)
        server.put("second")
        await until(lambda: watched.holds("first", "second"), watched.clock)
        assert watched.informer.relists == 0
        assert watched.deleted == []


async def test_reset_resumes(server: FakeApiServer) -> None:
    """After a reset connection the watch goes on from the last version, without a list."""
    async with watching(server) as watched:
        server.put("second")
        await until(lambda: watched.holds("first", "second"))
        server.reset_watches()
        await until(lambda: server.watching == 0)
        server.delete("first")
        await until(lambda: watched.holds("second"), watched.clock)
        assert watched.informer.relists == 0


async def test_bookmark_moves_the_version(server: FakeApiServer) -> None:
    """The version of a bookmark is the one that a later watch resumes from."""
    async with watching(server) as watched:
        server.compact()
        server.bookmark()
        server.end_watches()
        await until(lambda: server.count("watch") == 2, watched.clock)
        assert server.requests[-1][1]["resourceVersion"] == str(server.compacted)


async def test_expired_in_stream_lists_anew(server: FakeApiServer) -> None:
    """An in-stream 410 leads to a new list; what was deleted meanwhile is reported so, and all of it as of now."""
    gone = server.objects["default", "first"]["metadata"]["uid"]
    async with watching(server) as watched:
        server.mute_watches()
        server.delete("first")
        server.put("second")
        server.compact()
        watched.informer.relist()
        await until(lambda: watched.holds("second"), watched.clock)
        assert watched.deleted == [gone]
        assert {delta.initial for delta in watched.deltas[1:]} == {False}
        server.expire_watches()
        await until(lambda: watched.informer.relists == 2, watched.clock)
        assert watched.holds("second")


async def test_expired_at_connect_lists_anew(server: FakeApiServer) -> None:
    """A watch that is refused with 410 leads to a new list at once."""
    async with watching(server) as watched:
        server.end_watches()
        await until(lambda: server.watching == 0)
        server.delete("first")
        server.compact()
        await until(watched.holds, watched.clock)
        assert watched.informer.relists == 1


async def test_expired_pages_start_again(server: FakeApiServer) -> None:
    """A list whose next page has expired is taken again from the start."""
    server.streaming_lists = False
    server.page_size = 1
    server.put("second")
    server.refuse("list", 410, reason="Expired", after=1)
    async with watching(server, synced=False) as watched:
        await until(lambda: watched.holds("first", "second"), watched.clock)
    tokens = [query.get("continue") for verb, query in server.requests if verb == "list"]
    assert tokens == [None, "1", None, "1"]


async def test_recreated_in_a_gap_is_a_deletion_and_an_addition(server: FakeApiServer) -> None:
    """An object deleted and re-created under its name while nobody watched is two changes, told apart by uid."""
    async with watching(server) as watched:
        old = server.objects["default", "first"]["metadata"]["uid"]
        server.mute_watches()
        server.delete("first")
        new = server.put("first")["metadata"]["uid"]
        watched.informer.relist()
        await until(lambda: watched.informer.relists == 1)
        changes = [(delta.old and delta.old.meta.uid, delta.new and delta.new.meta.uid) for delta in watched.deltas[1:]]
        assert changes == [(old, None), (None, new)]


async def test_silent_connection_is_replaced(server: FakeApiServer) -> None:
    """A connection on which nothing has come for 70 s is replaced, and nothing is lost."""
    async with watching(server) as watched:
        server.mute_watches()
        server.put("second")
        await until(watched.clock.sleepers)
        watched.clock.advance(INACTIVITY)
        await until(lambda: watched.holds("first", "second"), watched.clock)
        assert watched.informer.relists == 0


async def test_events_keep_a_connection(server: FakeApiServer) -> None:
    """A connection that has brought a bookmark within 70 s stays."""
    async with watching(server) as watched:
        watched.clock.advance(INACTIVITY - 10)
        server.put("second")
        await until(lambda: watched.holds("first", "second"))
        watched.clock.advance(INACTIVITY - 10)
        server.put("third")
        await until(lambda: watched.holds("first", "second", "third"))
        assert server.count("watch") == 1


async def test_line_of_megabytes(server: FakeApiServer) -> None:
    """An event of 1.2 MB arrives whole."""
    async with watching(server) as watched:
        server.put("big", blob="x" * 1_200_000)
        await until(lambda: "big" in watched.names)
        stored = watched.informer.get("default", "big")
        assert stored is not None
        assert len(stored.raw) > 1_200_000


async def test_forbidden_then_allowed(server: FakeApiServer) -> None:
    """A refusal is waited out, since roles are granted and CRDs installed later; the reason can be asked for."""
    server.refuse("watch", 403, reason="Forbidden", times=3)
    async with watching(server, synced=False) as watched:
        await until(lambda: watched.informer.failure is not None)
        assert isinstance(watched.informer.failure, Forbidden)
        await until(lambda: watched.holds("first"), watched.clock)
        assert watched.informer.failure is None


@pytest.mark.parametrize("verb", ["watch", "list"])
@pytest.mark.parametrize("code", [401, 403, 404, 410, 429, 500, 503])
async def test_no_refusal_is_fatal(server: FakeApiServer, code: int, verb: str) -> None:
    """Whatever watches and lists are refused with, what changed meanwhile is there in the end."""
    server.streaming_lists = verb == "watch"
    async with watching(server) as watched:
        server.refuse(verb, code, reason="Expired" if code == 410 else "", times=3)
        server.delete("first")
        server.put("second")
        server.compact()
        server.reset_watches()
        await until(lambda: watched.holds("second") and server.watching, watched.clock)
        await until(lambda: watched.informer.failure is None, watched.clock)


async def test_watches_end_at_different_times(server: FakeApiServer) -> None:
    """The server is told to end each watch after five to ten minutes, each after a time of its own."""
    async with watching(server) as watched:
        for count in range(2, 6):
            server.end_watches()
            await until(lambda count=count: server.count("watch") == count, watched.clock)  # type: ignore[misc]  # mypy infers no lambda with defaults
    times = [int(query["timeoutSeconds"]) for verb, query in server.requests if verb == "watch"]
    assert all(300 <= seconds <= 600 for seconds in times)
    assert len(set(times)) > 1


async def test_relist_asked_twice(server: FakeApiServer) -> None:
    """A relist that is asked for while one begins is one of them, and the watch goes on."""
    async with watching(server) as watched:
        watched.informer.relist()
        await asyncio.sleep(0)
        watched.informer.relist()
        await until(lambda: watched.informer.relists and server.watching)
        server.put("second")
        await until(lambda: watched.holds("first", "second"))
        assert watched.informer.failure is None


async def test_rotated_token(server: FakeApiServer, tmp_path: Path) -> None:
    """A watch whose token is refused goes on with the one now in the file, without a list and without a pause."""
    token = tmp_path / "token"
    token.write_text("old")
    server.token = "old"
    async with watching(server, token_file=token) as watched:
        server.put("second")
        await until(lambda: watched.holds("first", "second"))
        server.token = "new"
        token.write_text("new")
        watches = server.count("watch")
        server.end_watches()
        await until(lambda: server.count("watch") > watches)
        server.put("third")
        await until(lambda: watched.holds("first", "second", "third"))
        assert watched.informer.relists == 0


async def test_pauses_grow(server: FakeApiServer) -> None:
    """Each further refusal is followed by a longer pause, up to 10 s."""
    server.refuse("watch", 500, times=12)
    pauses: list[float] = []
    async with watching(server, synced=False) as watched:
        for _ in range(12):
            await until(lambda: server.count("watch") == len(pauses) + 1 and watched.pause)
            pauses.append(watched.pause)
            watched.clock.advance(watched.pause)
        await until(lambda: watched.holds("first"), watched.clock)
    assert all(pause >= 0.4 * 2**n for n, pause in enumerate(pauses[:4]))
    assert all(5 <= pause <= 10 for pause in pauses[4:])


async def test_retry_after_is_honoured(server: FakeApiServer) -> None:
    """A watch that is told to come back in 17 s pauses so long."""
    server.refuse("watch", 429, reason="TooManyRequests", Retry_After="17")
    async with watching(server, synced=False) as watched:
        await until(lambda: watched.pause)
        assert watched.pause == 17
        watched.clock.advance(17)
        await until(lambda: watched.holds("first"))


async def test_relist_is_quiet_when_nothing_changed(server: FakeApiServer) -> None:
    """A new list that says what is known makes no change."""
    async with watching(server) as watched:
        before = list(watched.deltas)
        watched.informer.relist()
        await until(lambda: watched.informer.relists == 1)
        assert watched.deltas == before


async def test_server_away_and_back() -> None:
    """A server that can't be reached is tried again until it is there."""
    async with fake_api_server() as server:
        port = server.port
    async with watching(server, synced=False) as watched:
        await until(lambda: watched.informer.failure is not None)
        assert f"127.0.0.1:{port}" in str(watched.informer.failure)
        async with fake_api_server(port) as back:
            back.put("first")
            await until(lambda: watched.holds("first"), watched.clock)


async def test_failing_handler_costs_the_others_nothing(
    server: FakeApiServer, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception in one handler is logged, and the other handlers and the watch go on."""

    def broken(delta: Delta) -> None:
        raise LookupError(delta)

    async with watching(server) as watched:
        watched.informer.add_handler(broken)
        later: list[Delta] = []
        watched.informer.add_handler(later.append)
        server.put("second")
        await until(lambda: len(later) == 2)
        assert [delta.initial for delta in later] == [True, False]
        assert "an event handler failed" in caplog.text
