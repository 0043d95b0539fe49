"""The watch that goes on, against a server that misbehaves on command."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold import errors
from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.fake_api_server import FakeApiServer, client_of, fake_api_server, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """Give a server that holds one object."""
    async with fake_api_server() as server:
        server.put("first")
        yield server


async def _next(events: Any, clock: ManualClock) -> tuple[str, str]:
    """Wait for an event, and skip the pauses before it."""
    waiting = asyncio.ensure_future(anext(events))
    await until(waiting.done, clock)
    kind_of_event, obj = await waiting
    return kind_of_event, obj["metadata"]["name"]


@pytest.mark.parametrize("fault", ["end_watches", "reset_watches"])
async def test_it_goes_on_where_it_was(server: FakeApiServer, fault: str) -> None:
    """What happens between the end of one connection and the next is not lost, and nothing comes twice."""
    clock = ManualClock()
    async with client_of(server, clock) as client, aclosing(client.follow(CONFIG_MAP, initial=True)) as events:
        assert await _next(events, clock) == ("ADDED", "first")
        for number in range(3):
            waiting = asyncio.create_task(_next(events, clock))
            await until(lambda: server.watching, clock)
            server.put(f"connected-{number}")
            assert await waiting == ("ADDED", f"connected-{number}")
            getattr(server, fault)()
            await until(lambda: not server.watching)
            server.put(f"between-{number}")
            assert await _next(events, clock) == ("ADDED", f"between-{number}")
        waiting = asyncio.create_task(_next(events, clock))
        server.delete("first")
        assert await waiting == ("DELETED", "first")


async def test_from_now_on(server: FakeApiServer) -> None:
    """Without a version it begins now: what was there before is not told, and one object at most is fetched."""
    clock = ManualClock()
    async with client_of(server, clock) as client, aclosing(client.follow(CONFIG_MAP)) as events:
        waiting = asyncio.create_task(_next(events, clock))
        await until(lambda: server.watching)
        server.put("second")
        assert await waiting == ("ADDED", "second")
    assert [query.get("limit") for verb, query in server.requests if verb == "list"] == ["1"]


async def test_bookmarks_move_it_on(server: FakeApiServer) -> None:
    """A quiet kind is resumed from the last bookmark, so that it outlives the server's memory."""
    clock = ManualClock()
    async with client_of(server, clock) as client, aclosing(client.follow(CONFIG_MAP)) as events:
        waiting = asyncio.create_task(_next(events, clock))
        await until(lambda: server.watching)
        server.compact()
        server.bookmark()
        server.end_watches()
        await until(lambda: server.count("watch") == 2, clock)
        server.put("second")
        assert await waiting == ("ADDED", "second")


@pytest.mark.parametrize(("code", "reason"), [(429, "TooManyRequests"), (500, "InternalError"), (503, "")])
async def test_a_busy_server_is_waited_for(server: FakeApiServer, code: int, reason: str) -> None:
    """A server that is overloaded or broken for a while is asked again, less and less often."""
    clock = ManualClock()
    server.refuse("watch", code, reason=reason, times=4)
    async with client_of(server, clock) as client, aclosing(client.follow(CONFIG_MAP)) as events:
        waiting = asyncio.create_task(_next(events, clock))
        await until(lambda: server.watching, clock)
        server.put("second")
        assert await waiting == ("ADDED", "second")
    assert clock.monotonic() >= 0.5 + 1 + 2 + 4


@pytest.mark.parametrize("fault", ["expire_watches", "compact"])
async def test_what_can_not_be_known_is_said(server: FakeApiServer, fault: str) -> None:
    """When the server no longer knows what came next, following ends in Expired."""
    clock = ManualClock()
    async with client_of(server, clock) as client, aclosing(client.follow(CONFIG_MAP)) as events:
        waiting = asyncio.create_task(_next(events, clock))
        await until(lambda: server.watching)
        getattr(server, fault)()
        server.end_watches()
        with pytest.raises(errors.Expired):
            await waiting


async def test_what_waiting_can_not_mend_is_raised(server: FakeApiServer) -> None:
    """A refusal is the caller's to know."""
    server.refuse("watch", 403, reason="Forbidden")
    async with client_of(server) as client:
        with pytest.raises(errors.Forbidden):
            await anext(client.follow(CONFIG_MAP))


async def test_initial_objects_of_many_pages(server: FakeApiServer) -> None:
    """What there is comes page by page, then what happens after the list."""
    clock = ManualClock()
    for number in range(4):
        server.put(f"more-{number}")
    server.page_size = 2
    client = HttpClient(server.config, clock=clock)
    async with aclosing(client.follow(CONFIG_MAP, initial=True)) as events:
        names = {(await _next(events, clock))[1] for _ in range(5)}
        assert names == {"first", *(f"more-{number}" for number in range(4))}
        server.put("later")
        assert await _next(events, clock) == ("ADDED", "later")
    await client.close()
    assert server.count("list") == 3
