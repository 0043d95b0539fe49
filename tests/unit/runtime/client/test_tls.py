"""Client certificates and server names, over real TLS on loopback."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold import errors
from pyopscaffold.kube.builtin import NAMESPACE
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
from pyopscaffold.runtime.client.http import HttpClient
from pyopscaffold.runtime.client.through import AiohttpTransport
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.client.guarded import Ask, Authority, Guard, both_ways, guarded
from tests.unit.runtime.fake_api_server import until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True, params=["direct", "through aiohttp"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test over connections of our own, and over those of aiohttp, which proxies and traces need."""
    if request.param != "direct":
        aiohttps = partial(AiohttpTransport, proxy="", trace_configs=())
        monkeypatch.setattr("pyopscaffold.runtime.client.http.DirectTransport", aiohttps)


@both_ways
async def test_client_certificate(tmp_path: Path, ask: Ask) -> None:
    """A certificate and key identify the user; the server's is checked against tls-server-name."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        config = replace(cluster, client_certificate=user.certificate, client_key=user.key)
        client = HttpClient(config)
        await ask(client)
        await client.close()
        assert guard.seen == ["ada"]
        client = HttpClient(replace(config, tls_server_name=""))
        with pytest.raises(errors.ConnectionFailed, match="certificate verify failed: IP address mismatch"):
            await ask(client)
        await client.close()


@both_ways
async def test_certificate_of_a_plugin_is_renewed(tmp_path: Path, ask: Ask) -> None:
    """When the server refuses a plugin's certificate, the next one is fetched and used for the same request."""
    authority, guard = Authority(), Guard()
    for number, name in enumerate(("old", "new")):
        pair = authority.issue(name)
        (tmp_path / f"{number}.crt").write_bytes(pair.certificate)
        (tmp_path / f"{number}.key").write_bytes(pair.key)
    script = tmp_path / "plugin.py"
    script.write_text(f"""
import json, pathlib
folder = pathlib.Path({str(tmp_path)!r})
calls = folder / "calls"
number = len(calls.read_text()) if calls.exists() else 0
calls.write_text("." * (number + 1))
status = {{
    "clientCertificateData": (folder / f"{{number}}.crt").read_text(),
    "clientKeyData": (folder / f"{{number}}.key").read_text(),
}}
version = "client.authentication.k8s.io/v1"
print(json.dumps({{"apiVersion": version, "kind": "ExecCredential", "status": status}}))
""")
    async with guarded(guard, authority, tmp_path) as cluster:
        client = HttpClient(replace(cluster, exec_plugin=ExecPlugin(sys.executable, (str(script),))))
        await ask(client)
        guard.refused = {"old"}
        await ask(client)
        await client.close()
    assert guard.seen == ["old", "old", "new"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ca": b"nonsense"}, "the CA certificate for .* is malformed"),
        ({"client_certificate": b"nonsense", "client_key": b"nonsense"}, "the client certificate for .* is malformed"),
    ],
)
async def test_malformed_certificates(fields: dict[str, Any], message: str) -> None:
    """A certificate that is none is the user's mistake, and named."""
    client = HttpClient(replace(ClusterConfig(server="https://127.0.0.1:1", insecure=True), **fields))
    with pytest.raises(errors.KubeconfigError, match=message):
        await client.list(NAMESPACE)
    await client.close()


@both_ways
async def test_renewed_files_are_picked_up(tmp_path: Path, ask: Ask) -> None:
    """A client certificate renewed on disk is used within a minute, and what is under way ends undisturbed."""
    authority, guard, clock = Authority(), Guard(), ManualClock()
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def renew(name: str) -> None:
        pair = authority.issue(name)
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)

    renew("old")
    async with guarded(guard, authority, tmp_path) as cluster:
        config = replace(cluster, client_certificate_file=certificate, client_key_file=key)
        client = HttpClient(config, clock=clock)
        guard.gate.clear()
        under_way = asyncio.ensure_future(ask(client))
        await until(lambda: guard.seen)
        renew("new")
        clock.advance(60)
        renewed = asyncio.ensure_future(ask(client))
        await until(lambda: len(guard.seen) == 2)
        guard.gate.set()
        await under_way
        await renewed
        await client.close()
    assert guard.seen == ["old", "new"]


@both_ways
async def test_half_renewed_files(tmp_path: Path, ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    """A certificate that does not fit its key yet is left alone until it does: the last pair serves on."""
    authority, guard, clock = Authority(), Guard(), ManualClock()
    old, new = authority.issue("old"), authority.issue("new")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    certificate.write_bytes(old.certificate)
    key.write_bytes(old.key)
    async with guarded(guard, authority, tmp_path) as cluster:
        client = HttpClient(replace(cluster, client_certificate_file=certificate, client_key_file=key), clock=clock)
        await ask(client)
        certificate.write_bytes(new.certificate)
        clock.advance(60)
        for _ in range(2):
            await ask(client)
        assert caplog.text.count("the client certificate for") == 1
        key.write_bytes(new.key)
        clock.advance(60)
        await ask(client)
        await client.close()
    assert guard.seen == ["old", "old", "old", "new"]


@both_ways
async def test_a_renewed_authority(tmp_path: Path, ask: Ask) -> None:
    """When the server's certificate comes from a new authority, the CA file is read again and followed."""
    old, new, users, guard, clock = Authority(), Authority(), Authority(), Guard(), ManualClock()
    ca, pair = tmp_path / "ca.crt", users.issue("ada")
    ca.write_bytes(old.certificate)
    async with guarded(guard, old, tmp_path, users=users) as cluster:
        config = replace(cluster, ca_file=ca, client_certificate=pair.certificate, client_key=pair.key)
        client = HttpClient(config, clock=clock)
        await ask(client)
    async with guarded(guard, new, tmp_path, users=users, port=int(cluster.server.rpartition(":")[2])):
        with pytest.raises(errors.ConnectionFailed, match="certificate verify failed"):
            await ask(client)
        ca.write_bytes(new.certificate)
        clock.advance(60)
        await ask(client)
        await client.close()


@both_ways
async def test_a_server_below_a_path(tmp_path: Path, ask: Ask) -> None:
    """A server may be reached below a path, as those behind a gateway are."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        config = replace(cluster, server=f"{cluster.server}/k8s/clusters/c-1")
        client = HttpClient(replace(config, client_certificate=user.certificate, client_key=user.key))
        await ask(client)
        await client.close()
    assert guard.paths[0].startswith("/k8s/clusters/c-1/api/v1/namespaces")
