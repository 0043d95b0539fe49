"""Client certificates and server names, over real TLS on loopback."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold import errors
from pyopscaffold.kube.builtin import NAMESPACE
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
from pyopscaffold.runtime.client.http import HttpClient
from tests.unit.runtime.client.guarded import Authority, Guard, guarded

if TYPE_CHECKING:
    from pathlib import Path


async def test_client_certificate(tmp_path: Path) -> None:
    """A certificate and key identify the user; the server's is checked against tls-server-name."""
    authority, guard = Authority(), Guard()
    user = authority.issue("ada")
    async with guarded(guard, authority, tmp_path) as cluster:
        config = replace(cluster, client_certificate=user.certificate, client_key=user.key)
        client = HttpClient(config)
        assert await client.list(NAMESPACE) == []
        await client.close()
        assert guard.seen == ["ada"]
        client = HttpClient(replace(config, tls_server_name=""))
        with pytest.raises(errors.ConnectionFailed, match="certificate verify failed: IP address mismatch"):
            await client.list(NAMESPACE)
        await client.close()


async def test_certificate_of_a_plugin_is_renewed(tmp_path: Path) -> None:
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
        await client.list(NAMESPACE)
        guard.refused = {"old"}
        await client.list(NAMESPACE)
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
