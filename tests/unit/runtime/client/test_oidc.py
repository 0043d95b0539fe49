"""The auth-provider oidc, against a provider of the tests that rotates its refresh tokens."""

from __future__ import annotations

import base64
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from aiohttp import web

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client import config
from pyopscaffold.runtime.client.credentials import Credentials, credentials_of
from pyopscaffold.runtime.clock import ManualClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_NOON = 1767268800  # 2026-01-01T12:00:00Z; the clock starts at midnight


def _token(expires: int) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": expires}).encode()).decode().rstrip("=")
    return f"e30.{claims}.c2ln"


class Provider:
    """Takes each refresh token once; ``identity`` is where it wants the client's secret."""

    def __init__(self) -> None:
        self.refresh_token = "first"
        self.identity = "header"
        self.answer: dict[str, Any] | None = None
        self.refreshes = 0
        self.on_refusal: Callable[[], object] = lambda: None

    async def metadata(self, request: web.Request) -> web.Response:
        """Say where tokens are."""
        return web.json_response({"token_endpoint": f"http://{request.host}/token"})

    async def token(self, request: web.Request) -> web.Response:
        """Refresh."""
        form = await request.post()
        known = base64.b64encode(b"operator:s3cret").decode()
        in_form = (form.get("client_id"), form.get("client_secret")) == ("operator", "s3cret")
        in_header = request.headers.get("Authorization") == f"Basic {known}"
        if not (in_header if self.identity == "header" else in_form):
            return web.json_response({"error": "invalid_client"}, status=401)
        if form["grant_type"] != "refresh_token" or form["refresh_token"] != self.refresh_token:
            self.on_refusal()
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.refreshes += 1
        self.refresh_token = f"next-{self.refreshes}"
        fresh = {"id_token": _token(_NOON + 3600 * self.refreshes), "refresh_token": self.refresh_token}
        return web.json_response(self.answer or fresh)


@asynccontextmanager
async def _provided(
    folder: Path,
    clock: ManualClock,
    id_token: str = "",
    refresh_token: str = "first",  # noqa: S107
) -> AsyncIterator[tuple[Provider, Credentials, Path]]:
    """Run a provider, and give it with the credentials of a kubeconfig that names it."""
    provider, app = Provider(), web.Application()
    app.router.add_get("/realm/.well-known/openid-configuration", provider.metadata)
    app.router.add_post("/token", provider.token)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    values = {
        "idp-issuer-url": f"http://127.0.0.1:{runner.addresses[0][1]}/realm/",
        "client-id": "operator",
        "client-secret": "s3cret",
        "id-token": id_token,
        "refresh-token": refresh_token,
    }
    document = {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "https://example.com"}}],
        "users": [{"name": "a", "user": {"auth-provider": {"name": "oidc", "config": values}}}, {"name": "b"}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    path.chmod(0o600)
    try:
        yield provider, credentials_of(config.load(path), clock), path
    finally:
        await runner.cleanup()


def _kept(path: Path) -> dict[str, str]:
    found: dict[str, str] = yaml.safe_load(path.read_text())["users"][0]["user"]["auth-provider"]["config"]
    return found


def _names(folder: Path) -> list[str]:
    return [found.name for found in folder.iterdir()]


@pytest.mark.parametrize("identity", ["header", "form"])
async def test_expired_tokens_are_renewed(tmp_path: Path, identity: str) -> None:
    """A valid ID token is used, an expired one renewed, and the new tokens are kept in the kubeconfig."""
    clock = ManualClock()
    async with _provided(tmp_path, clock, _token(_NOON)) as (provider, credentials, path):
        provider.identity = identity
        assert (await credentials.current()).token == _token(_NOON)
        clock.advance(12 * 3600 - 9)
        assert (await credentials.current()).token == _token(_NOON + 3600)
        assert (await credentials.current()).token == _token(_NOON + 3600)
        assert provider.refreshes == 1
        clock.advance(3600)
        assert (await credentials.current()).token == _token(_NOON + 7200)
        assert (_kept(path)["id-token"], _kept(path)["refresh-token"]) == (_token(_NOON + 7200), "next-2")
        assert _kept(path)["client-secret"] == "s3cret"
        assert path.stat().st_mode & 0o777 == 0o600
        assert _names(tmp_path) == ["config"], "neither lock nor copy is left"
        assert (await credentials_of(config.load(path), clock).current()).token == _token(_NOON + 7200)


async def test_clients_that_share_a_user(tmp_path: Path) -> None:
    """A client takes the tokens that another has left in the file, as its own refresh token is void by then."""
    clock = ManualClock()
    async with _provided(tmp_path, clock, _token(_NOON)) as (provider, credentials, path):
        others = [credentials_of(config.load(path), clock) for _ in range(2)]
        clock.advance(13 * 3600 - 60)
        found = [(await each.current()).token for each in (credentials, *others)]
        assert (set(found), provider.refreshes) == ({_token(_NOON + 3600)}, 1)
        clock.advance(3600)
        found = [(await each.current()).token for each in (*others, credentials)]
        assert (set(found), provider.refreshes) == ({_token(_NOON + 7200)}, 2)


async def test_another_is_faster(tmp_path: Path) -> None:
    """Where another client has refreshed while we were asking, its tokens are taken instead of the refusal."""
    clock = ManualClock()
    async with _provided(tmp_path, clock, _token(_NOON)) as (provider, credentials, path):
        clock.advance(12 * 3600)
        provider.on_refusal = lambda: path.write_text(path.read_text().replace(_token(_NOON), _token(_NOON + 60)))
        provider.refresh_token = "taken by another"
        assert (await credentials.current()).token == _token(_NOON + 60)


async def test_a_locked_kubeconfig(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the new tokens can't be kept, they serve this process all the same, and the log says so."""
    async with _provided(tmp_path, ManualClock()) as (_, credentials, path):
        (tmp_path / "config.lock").touch()
        assert (await credentials.current()).token == _token(_NOON + 3600)
        assert _kept(path)["id-token"] == ""
    assert "can't be kept" in caplog.text


@pytest.mark.parametrize(
    ("id_token", "refresh_token", "message"),
    [
        ("", "", "has no valid id-token, and no refresh-token to get one"),
        ("", "spent", "answered 400: .*invalid_grant"),
        ("no.jwt", "first", "has an id-token that is no JWT"),
        ("a.!.c", "first", "has an id-token that is no JWT"),
    ],
)
async def test_no_token_to_be_had(tmp_path: Path, id_token: str, refresh_token: str, message: str) -> None:
    """Where no token can be had, the error says why, and what to do."""
    async with _provided(tmp_path, ManualClock(), id_token, refresh_token) as (_, credentials, _):
        with pytest.raises(KubeconfigError, match=message) as caught:
            await credentials.current()
    assert "log in anew" in (caught.value.hint or "")


async def test_a_provider_without_id_tokens(tmp_path: Path) -> None:
    """A provider that refreshes without an ID token is answered with the cause."""
    async with _provided(tmp_path, ManualClock()) as (provider, credentials, _):
        provider.answer = {"access_token": "a"}
        with pytest.raises(KubeconfigError, match="the scope openid was not asked for"):
            await credentials.current()


async def test_a_dead_provider(tmp_path: Path) -> None:
    """A provider that can't be reached is named."""
    async with _provided(tmp_path, ManualClock()) as (_, credentials, _):
        pass
    with pytest.raises(KubeconfigError, match=r"the OIDC provider http://127\.0\.0\.1:\d+/realm can't be reached"):
        await credentials.current()
