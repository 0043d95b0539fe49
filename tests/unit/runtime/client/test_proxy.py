"""The way to the server through proxies: which one, and a real one that tunnels."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import errors
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.client.proxy import proxy_from_environment
from tests.unit.runtime.client.connect_proxy import connect_proxy
from tests.unit.runtime.client.guarded import Ask, Authority, Guard, both_ways, guarded

if TYPE_CHECKING:
    from pathlib import Path

_SERVER = "https://api.example.com:6443"


@pytest.mark.parametrize(
    ("server", "environment", "proxy"),
    [
        (_SERVER, {}, ""),
        (_SERVER, {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        (_SERVER, {"https_proxy": "http://q:1", "HTTPS_PROXY": "http://p:1"}, "http://q:1"),
        (_SERVER, {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        (_SERVER, {"HTTP_PROXY": "http://p:1"}, ""),
        ("http://api.example.com", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("https://localhost:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://127.0.0.1:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://[::1]:6443", {"HTTPS_PROXY": "http://p:1"}, ""),
    ],
)
def test_variables(server: str, environment: dict[str, str], proxy: str) -> None:
    """The variable of the server's scheme counts, in lower case first, and never for this machine itself."""
    assert proxy_from_environment(server, environment) == proxy


@pytest.mark.parametrize(
    ("rules", "server", "direct"),
    [
        ("*", _SERVER, True),
        ("example.com", _SERVER, True),
        ("other.com, example.com", _SERVER, True),
        (".example.com", _SERVER, True),
        ("*.example.com", _SERVER, True),
        ("api.example.com", _SERVER, True),
        (".api.example.com", _SERVER, False),
        ("ample.com", _SERVER, False),
        ("*example.com", _SERVER, False),
        ("example.com:", _SERVER, True),
        ("API.EXAMPLE.COM", _SERVER, True),
        ("example.com:6443", _SERVER, True),
        ("example.com:443", _SERVER, False),
        ("example.com:443", "https://example.com", True),
        ("10.0.0.0/8", "https://10.96.0.1", True),
        ("10.0.0.0/8", "https://11.96.0.1", False),
        ("10.0.0.0/8", _SERVER, False),
        ("10.96.0.1", "https://10.96.0.1", True),
        ("10.96.0.1:443", "https://10.96.0.1", True),
        ("10.96.0.1:6443", "https://10.96.0.1", False),
        ("fd00::/8", "https://[fd00::1]", True),
        ("fd00::1", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("[fd00::1]:443", "https://[fd00::1]:6443", False),
        ("10.0.0.0/99", "https://10.96.0.1", False),
        ("", _SERVER, False),
    ],
)
def test_exceptions(rules: str, server: str, direct: bool) -> None:
    """NO_PROXY is read as Go reads it: domains with their subdomains, addresses, networks, ports."""
    found = proxy_from_environment(server, {"HTTPS_PROXY": "http://p:1", "NO_PROXY": rules})
    assert (found == "") is direct


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("socks5://p:1", r"\$HTTPS_PROXY is a SOCKS proxy"),
        ("ftp://p", r"\$HTTPS_PROXY is no URL"),
        ("http://", "no URL"),
    ],
)
def test_unusable_variables(value: str, message: str) -> None:
    """A proxy that can't be used is an error, not a request past it."""
    with pytest.raises(errors.KubeconfigError, match=message):
        proxy_from_environment(_SERVER, {"HTTPS_PROXY": value})


@pytest.mark.parametrize("by", ["proxy-url", "environment"])
@both_ways
async def test_requests_are_tunnelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str, ask: Ask) -> None:
    """Requests go through the proxy to a host that only it can find, and TLS is checked end to end."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        port = int(cluster.server.rpartition(":")[2])
        async with connect_proxy({"api.example": port}) as proxy:
            url = f"http://127.0.0.1:{proxy.port}"
            if by == "environment":
                monkeypatch.setenv("HTTPS_PROXY", url)
            config = replace(
                cluster,
                server="https://api.example:6443",
                tls_server_name="",
                proxy=url if by == "proxy-url" else "",
                client_certificate=user.certificate,
                client_key=user.key,
            )
            client = HttpClient(config)
            await ask(client)
            await ask(client)
            await client.close()
            assert (guard.seen, proxy.targets) == (["ada", "ada"], ["api.example:6443"])
            client = HttpClient(replace(config, tls_server_name="other.example"))
            with pytest.raises(errors.ConnectionFailed, match="certificate verify failed: Hostname mismatch"):
                await ask(client)
            await client.close()


@both_ways
async def test_proxies_that_ask_who_we_are(tmp_path: Path, ask: Ask) -> None:
    """A name and password in the proxy's URL are sent to it; a refusal is told as the proxy's, without them."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        async with connect_proxy({"127.0.0.1": int(cluster.server.rpartition(":")[2])}) as proxy:
            proxy.authorization = f"Basic {base64.b64encode(b'me:s3cret').decode()}"
            config = replace(
                cluster,
                proxy=f"http://me:s3cret@127.0.0.1:{proxy.port}",
                client_certificate=user.certificate,
                client_key=user.key,
            )
            client = HttpClient(config)
            await ask(client)
            await client.close()
            proxy.authorization = "Basic other"
            client = HttpClient(config)
            with pytest.raises(errors.ConnectionFailed, match=r"the proxy http://127.*answered 407 Proxy") as caught:
                await ask(client)
            await client.close()
            assert "s3cret" not in str(caught.value)
        client = HttpClient(config)
        with pytest.raises(
            errors.ConnectionFailed, match=r"no connection to the proxy http://127.*: Connection refused"
        ):
            await ask(client)
        await client.close()
