"""What the client makes of refusals, dead servers and rotated tokens, against a server that misbehaves on command."""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold import errors
from pyopscaffold.api import Object, resource
from pyopscaffold.kube.builtin import CONFIG_MAP, SECRET
from pyopscaffold.runtime.client.api import ApiClient
from pyopscaffold.runtime.client.config import ClusterConfig
from pyopscaffold.runtime.client.http import HttpClient, user_agent
from pyopscaffold.runtime.client.transport import Response
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.client.guarded import Ask, both_ways
from tests.unit.runtime.fake_api_server import FakeApiServer, client_of, fake_api_server, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from pyopscaffold.runtime.client.transport import Request, Stream


class Crowd:
    """Counts how many requests are under way at once."""

    def __init__(self) -> None:
        self.under_way = self.peak = self.served = 0

    async def request(self, request: Request) -> Response:
        """Answer in a while."""
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        self.served += 1
        return Response(200, {}, b"{}")

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Nothing is watched here."""
        raise AssertionError(request)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
async def server() -> AsyncIterator[FakeApiServer]:
    """Give a server that holds one object."""
    async with fake_api_server() as server:
        server.put("first", key="value")
        yield server


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (302, "", errors.ApiError),
        (400, "BadRequest", errors.BadRequest),
        (401, "Unauthorized", errors.Unauthorized),
        (403, "Forbidden", errors.Forbidden),
        (404, "NotFound", errors.NotFound),
        (405, "MethodNotAllowed", errors.MethodNotAllowed),
        (409, "AlreadyExists", errors.AlreadyExists),
        (409, "Conflict", errors.Conflict),
        (410, "Expired", errors.Expired),
        (415, "UnsupportedMediaType", errors.UnsupportedMediaType),
        (418, "", errors.ApiError),
        (422, "Invalid", errors.Invalid),
        (429, "TooManyRequests", errors.TooManyRequests),
        (500, "InternalError", errors.ServerError),
        (503, "ServiceUnavailable", errors.ServerError),
    ],
)
async def test_statuses_become_errors(
    server: FakeApiServer, code: int, reason: str, expected: type[errors.ApiError]
) -> None:
    """Each failure is the error of its status and reason, and its message says what was asked and answered."""
    server.refuse("get", code, reason=reason)
    async with client_of(server) as client:
        with pytest.raises(errors.ApiError) as caught:
            await client.get(CONFIG_MAP, "first", namespace="default")
    assert type(caught.value) is expected
    assert (caught.value.code, caught.value.reason) == (code, reason)
    assert f"GET /api/v1/namespaces/default/configmaps/first: refused with {code}" in str(caught.value)


async def test_retry_after_is_waited_out(server: FakeApiServer) -> None:
    """A 429 with Retry-After is tried again after that time, for writes too: the server has not looked at them."""
    clock = ManualClock()
    server.refuse("patch", 429, reason="TooManyRequests", Retry_After="7")
    async with client_of(server, clock) as client:
        patching = asyncio.create_task(client.patch(CONFIG_MAP, "first", {"data": {"key": "new"}}, namespace="default"))
        await until(clock.sleepers)
        assert 7 <= clock.sleepers()[0] <= 7 * 1.25
        clock.advance(clock.sleepers()[0])
        assert (await patching)["data"] == {"key": "new"}


async def test_a_read_waits_for_a_server_that_starts(server: FakeApiServer) -> None:
    """A read that is answered 503 with Retry-After is tried again after that time: it had no effect."""
    clock = ManualClock()
    server.refuse("get", 503, reason="ServiceUnavailable", Retry_After="3")
    async with client_of(server, clock) as client:
        getting = asyncio.create_task(client.get(CONFIG_MAP, "first", namespace="default"))
        await until(clock.sleepers)
        assert 3 <= clock.sleepers()[0] <= 3 * 1.25
        clock.advance(clock.sleepers()[0])
        assert (await getting)["data"] == {"key": "value"}


async def test_retries_are_bounded(server: FakeApiServer) -> None:
    """A server that never relents is asked five times."""
    clock = ManualClock()
    server.refuse("get", 429, reason="TooManyRequests", times=9, Retry_After="1")
    async with client_of(server, clock) as client:
        getting = asyncio.create_task(client.get(CONFIG_MAP, "first", namespace="default"))
        await until(getting.done, clock)
        with pytest.raises(errors.TooManyRequests) as caught:
            await getting
    assert caught.value.retry_after == 1
    assert server.count("get") == 5


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "60"}])
async def test_no_wait_without_end(server: FakeApiServer, headers: dict[str, Any]) -> None:
    """A 429 without a time, or with a long one, is left to the caller."""
    server.refuse("get", 429, reason="TooManyRequests", **headers)
    async with client_of(server, ManualClock()) as client:
        with pytest.raises(errors.TooManyRequests):
            await client.get(CONFIG_MAP, "first", namespace="default")


async def test_writes_are_not_repeated_after_503(server: FakeApiServer) -> None:
    """A write answered 503 may have happened: it is not repeated even if the server says when to come back."""
    server.refuse("create", 503, Retry_After="1")
    async with client_of(server, ManualClock()) as client:
        with pytest.raises(errors.ServerError):
            await client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}},
                field_manager="test",
            )
    assert server.count("create") == 1


async def test_refused_connection_names_the_server() -> None:
    """Where nobody listens, the error says which host and port, and why."""
    async with fake_api_server() as server:
        pass
    async with client_of(server) as client:
        with pytest.raises(errors.ConnectionFailed, match=rf"127\.0\.0\.1:{server.port} .*refused"):
            await client.get(CONFIG_MAP, "first", namespace="default")


async def test_silent_server_times_out(server: FakeApiServer) -> None:
    """A server that accepts and says nothing is given up after the timeout, by watches too."""
    server.deaf = True
    client = HttpClient(server.config, timeout=0.05)
    try:
        with pytest.raises(errors.ConnectionFailed, match=r"no answer in 0\.05 s"):
            await client.get(CONFIG_MAP, "first", namespace="default")
        with pytest.raises(errors.ConnectionFailed, match=r"no answer in 0\.05 s"):
            await anext(client.watch(CONFIG_MAP))
    finally:
        await client.close()
    assert [verb for verb, _ in server.requests] == ["get", "watch"]


@both_ways
@pytest.mark.parametrize(
    ("scheme", "message"),
    [("http", "the answer is not HTTP"), ("https", r"\[SSL: WRONG_VERSION_NUMBER\] wrong version number")],
)
async def test_a_server_of_another_kind(scheme: str, message: str, ask: Ask) -> None:
    """What answers in no HTTP, or in no TLS, is told in a few words."""

    async def chatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"220 mail.example.com\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(chatter, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    client = HttpClient(ClusterConfig(server=f"{scheme}://127.0.0.1:{port}"))
    try:
        with pytest.raises(errors.ConnectionFailed, match=rf"at 127\.0\.0\.1:{port} can't be reached: {message}"):
            await ask(client)
    finally:
        await client.close()
        listener.close()


@both_ways
async def test_a_name_that_nobody_has(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that can't be found is told by its name."""

    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    client = HttpClient(ClusterConfig(server="https://nowhere.example:6443"))
    with pytest.raises(errors.ConnectionFailed) as caught:
        await ask(client)
    await client.close()
    message = "the API server at nowhere.example:6443 can't be reached: Name or service not known"
    assert str(caught.value) == message


@both_ways
async def test_an_ipv6_address_is_told_as_in_its_url(ask: Ask) -> None:
    """In errors and in metrics the port can be told from the address."""
    told: list[str] = []
    client = HttpClient(ClusterConfig(server="http://[::1]:9"), on_request=lambda *asked: told.append(asked[2]))
    with pytest.raises(errors.ConnectionFailed, match=r"^the API server at \[::1\]:9 can't be reached: "):
        await ask(client)
    await client.close()
    assert set(told) == {"[::1]:9"}


@both_ways
async def test_a_handshake_that_never_ends(ask: Ask) -> None:
    """A server that accepts connections and never says a word of TLS is given up after the time to connect."""
    accepted: list[asyncio.StreamWriter] = []
    listener = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    client = HttpClient(ClusterConfig(server=f"https://127.0.0.1:{port}"), connect_timeout=0.05)
    try:
        with pytest.raises(errors.ConnectionFailed, match=r"no connection in 0\.05 s"):
            await ask(client)
    finally:
        await client.close()
        listener.close()
        for writer in accepted:
            writer.transport.abort()
    assert len(accepted) == 1


async def test_a_watch_that_falls_silent(server: FakeApiServer) -> None:
    """A watch on which nothing comes, not even a bookmark, is ended by the client."""
    client = HttpClient(server.config, silence=0.05)
    try:
        async with aclosing(client.watch(CONFIG_MAP, initial_events=True)) as events:
            assert [(await anext(events)).type for _ in range(2)] == ["ADDED", "BOOKMARK"]
            with pytest.raises(errors.ConnectionFailed, match=r"nothing has come for 0\.05 s"):
                await anext(events)
    finally:
        await client.close()


async def test_user_agent(server: FakeApiServer) -> None:
    """The server is told who asks: program, version, system, and this library."""
    machine = r"\(\w+/\w+\) pyopscaffold/\d+\.\d+\.\d+"
    assert re.fullmatch(rf"web-operator/1\.2\.3 {machine}", user_agent("web-operator", "1.2.3"))
    async with client_of(server) as client:
        await client.get(CONFIG_MAP, "first", namespace="default")
    assert re.fullmatch(rf"{re.escape(Path(sys.argv[0]).name)}/unknown {machine}", server.headers[-1]["User-Agent"])


@pytest.mark.parametrize(("compression", "accepted"), [(True, "gzip"), (False, "identity")])
async def test_compression(server: FakeApiServer, compression: bool, accepted: str) -> None:
    """Long answers come compressed, unless the kubeconfig has disable-compression."""
    client = HttpClient(replace(server.config, compression=compression))
    await client.get(CONFIG_MAP, "first", namespace="default")
    await client.close()
    assert server.headers[-1]["Accept-Encoding"].startswith(accepted)


async def test_rotated_token(server: FakeApiServer, tmp_path: Path) -> None:
    """A token that the server refuses is read anew from its file, and the request repeated, within one call."""
    token = tmp_path / "token"
    token.write_text("old\n")
    server.token = "old"
    client = HttpClient(replace(server.config, token_file=token), clock=ManualClock())
    try:
        await client.get(CONFIG_MAP, "first", namespace="default")
        server.token = "new"
        token.write_text("new\n")
        await client.get(CONFIG_MAP, "first", namespace="default")
        assert server.count("get") == 3
        server.token = "newest"
        with pytest.raises(errors.Unauthorized):
            await client.get(CONFIG_MAP, "first", namespace="default")
        assert server.count("get") == 4
    finally:
        await client.close()


async def test_token_is_read_each_minute(server: FakeApiServer, tmp_path: Path) -> None:
    """A rotated token is used within a minute, before the old one is refused."""
    clock = ManualClock()
    token = tmp_path / "token"
    token.write_text("old")
    server.token = "old"
    client = HttpClient(replace(server.config, token_file=token), clock=clock)
    try:
        await client.get(CONFIG_MAP, "first", namespace="default")
        token.write_text("new")
        server.token = "new"
        clock.advance(60)
        await client.get(CONFIG_MAP, "first", namespace="default")
        assert server.count("get") == 2
    finally:
        await client.close()


async def test_requests_are_counted(server: FakeApiServer) -> None:
    """Each exchange is reported with method, status and host, failures as <error>."""
    seen: list[tuple[str, str, str]] = []
    client = HttpClient(server.config, on_request=lambda *exchange: seen.append(exchange))
    host = f"127.0.0.1:{server.port}"
    try:
        await client.get(CONFIG_MAP, "first", namespace="default")
        with pytest.raises(errors.NotFound):
            await client.get(CONFIG_MAP, "none", namespace="default")
    finally:
        await client.close()
    assert seen == [("GET", "200", host), ("GET", "404", host)]


async def test_concurrency_is_bounded() -> None:
    """No more requests are under way than allowed, and all get through."""
    crowd = Crowd()
    client = ApiClient(crowd, max_in_flight=3)
    await asyncio.gather(*(client.get(CONFIG_MAP, "first", namespace="default") for _ in range(12)))
    assert (crowd.peak, crowd.served) == (3, 12)


async def test_list_starts_again_in_one_piece(server: FakeApiServer) -> None:
    """A list that expires between two pages is taken anew without pages, so that it can't expire again."""
    server.page_size = 1
    server.put("second")
    server.refuse("list", 410, reason="Expired", after=1)
    async with client_of(server) as client:
        found = await client.list(CONFIG_MAP, namespace="default")
    assert [obj["metadata"]["name"] for obj in found] == ["first", "second"]
    assert {(obj["apiVersion"], obj["kind"]) for obj in found} == {("v1", "ConfigMap")}
    assert [query.get("limit") for _, query in server.requests][:3] == ["500", "500", None]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda client: client.get(CONFIG_MAP, "a"), "lives in a namespace, and none was given"),
        (lambda client: client.get(CONFIG_MAP, "", namespace="default"), "no name was given"),
        (lambda client: client.create({"kind": "ConfigMap"}, field_manager="t"), "needs apiVersion and kind"),
        (
            lambda client: client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, field_manager="t"
            ),
            "needs metadata.namespace",
        ),
    ],
)
async def test_incomplete_addresses_are_not_sent(server: FakeApiServer, call: Any, message: str) -> None:
    """An object that can't be addressed is an error of its own, not a puzzling 404."""
    async with client_of(server) as client:
        with pytest.raises(errors.ClientError, match=message):
            await call(client)
    assert server.requests == []


async def test_delete_sends_preconditions(server: FakeApiServer) -> None:
    """Uid and resourceVersion travel as preconditions, beside the propagation."""
    async with client_of(server) as client:
        await client.delete(
            CONFIG_MAP, "first", namespace="default", uid="u", resource_version="7", propagation="Foreground"
        )
    assert server.bodies[-1] == {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
    }


async def test_apply_claims_nothing_of_the_servers(server: FakeApiServer) -> None:
    """What the server sets is left out of an apply; preconditions stay."""
    async with client_of(server) as client:
        read = await client.get(CONFIG_MAP, "first", namespace="default")
        await client.apply({**read, "data": {"key": "b"}}, field_manager="me")
    assert server.requests[-1][1] == {"fieldManager": "me", "force": "true"}
    assert set(server.bodies[-1]["metadata"]) == {"name", "namespace", "uid", "resourceVersion"}


async def test_html_of_a_proxy_is_an_error_too(server: FakeApiServer) -> None:
    """A failure without a Status keeps its code and the start of its text."""
    async with client_of(server) as client:
        with pytest.raises(errors.NotFound, match="404: Not Found"):
            await client.get(SECRET, "first", namespace="default")


async def test_answer_of_something_else(server: FakeApiServer) -> None:
    """A successful answer that is no JSON object (a captive portal's page) is a ClientError."""
    server.nonsense = True
    async with client_of(server) as client:
        with pytest.raises(errors.ClientError, match="not the API server's"):
            await client.list(CONFIG_MAP)
        with pytest.raises(errors.ClientError, match="not the API server's"):
            await client.get(CONFIG_MAP, "first", namespace="default")
        with pytest.raises(errors.ClientError, match="not the API server's"):
            await client.delete(CONFIG_MAP, "first", namespace="default")
        with pytest.raises(errors.ClientError, match="not the API server's"):
            await anext(client.watch(CONFIG_MAP))


async def test_typed_objects(server: FakeApiServer) -> None:
    """A class in place of a kind gives instances of it."""

    @resource(group="", version="v1")
    @dataclass(kw_only=True)
    class ConfigMap(Object):
        data: dict[str, str]

    async with client_of(server) as client:
        read = await client.get(ConfigMap, "first", namespace="default")
        assert (read.metadata.name, read.data) == ("first", {"key": "value"})
        read.data["key"] = "new"
        assert (await client.apply(read, field_manager="me")).data == {"key": "new"}
        assert [obj.data for obj in await client.list(ConfigMap)] == [{"key": "new"}]


async def test_warnings_are_logged_once(server: FakeApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """A warning of the server reaches the log, and a repeated one does not flood it, whatever brings it."""
    server.warning = r"v1 \"ConfigMap\" is deprecated"
    async with client_of(server) as client:
        for _ in range(2):
            await client.get(CONFIG_MAP, "first", namespace="default")
        async with aclosing(client.watch(CONFIG_MAP, initial_events=True)) as events:
            await anext(events)
    assert [record.message for record in caplog.records] == ['the API server warns: v1 "ConfigMap" is deprecated']


async def test_warnings_of_a_watch(server: FakeApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """A watch brings its warnings, too."""
    server.warning = "use something else"
    async with client_of(server) as client, aclosing(client.watch(CONFIG_MAP, initial_events=True)) as events:
        await anext(events)
    assert "the API server warns: use something else" in caplog.text


async def test_what_an_error_is_about(server: FakeApiServer) -> None:
    """An error carries the object it is about, the causes, and when to come back, as the server says in its Status."""
    server.refuse("get", 500, reason="ServerTimeout")
    server.details = {
        "name": "first",
        "kind": "configmaps",
        "uid": "u",
        "causes": [{"reason": "FieldValueInvalid", "message": "must be less", "field": "data.key"}],
        "retryAfterSeconds": 30,
    }
    async with client_of(server) as client:
        with pytest.raises(errors.ServerError) as caught:
            await client.get(CONFIG_MAP, "first", namespace="default")
    assert caught.value.details == errors.StatusDetails(name="first", kind="configmaps", uid="u")
    assert caught.value.causes == (errors.StatusCause("FieldValueInvalid", "must be less", "data.key"),)
    assert caught.value.retry_after == 30


async def test_conflicts_name_the_managers(server: FakeApiServer) -> None:
    """An apply without force that meets other managers' fields says whose they are."""
    server.refuse("patch", 409, reason="Conflict")
    causes = [
        ('conflict with "kubectl" using v1 at 2026-01-01T00:00:00Z', ".data.key"),
        ('conflict with "hpa" with subresource "scale" using apps/v1', ".spec.replicas"),
        ('conflict with "kubectl" using v1', ".data.more"),
    ]
    server.details = {
        "causes": [{"reason": "FieldManagerConflict", "message": text, "field": name} for text, name in causes]
    }
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first", "namespace": "default"}}
    async with client_of(server) as client:
        with pytest.raises(errors.FieldConflict) as caught:
            await client.apply(config_map, field_manager="me", force=False)
    assert isinstance(caught.value, errors.Conflict)
    assert caught.value.managers == {"kubectl": (".data.key", ".data.more"), "hpa": (".spec.replicas",)}
