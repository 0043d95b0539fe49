"""Credentials that come from programs and files."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
from pyopscaffold.runtime.client.credentials import Credential, Credentials, credentials_of
from pyopscaffold.runtime.clock import ManualClock

if TYPE_CHECKING:
    from pathlib import Path

_CONFIG = ClusterConfig(server="https://example.com", ca=b"ca", namespace="default")


def _plugin(tmp_path: Path, source: str, clock: ManualClock | None = None, **options: Any) -> Credentials:
    """Make credentials that a Python program prints."""
    script = tmp_path / "plugin.py"
    script.write_text(f"import json, os, sys\n{source}\n")
    plugin = ExecPlugin(sys.executable, (str(script),), **options)
    return credentials_of(replace(_CONFIG, exec_plugin=plugin), clock or ManualClock())


def _counting(tmp_path: Path, **status: str) -> str:
    """Source of a program whose token counts its calls."""
    return f"""
path = {str(tmp_path / "calls")!r}
calls = len(open(path).read()) if os.path.exists(path) else 0
open(path, "a").write(".")
status = {{"token": f"token-{{calls}}", **{status!r}}}
print(json.dumps({{"kind": "ExecCredential", "status": status}}))
"""


async def test_exec_is_asked_once(tmp_path: Path) -> None:
    """A credential without expiry is kept until the server refuses it."""
    credentials = _plugin(tmp_path, _counting(tmp_path))
    first = await credentials.current()
    assert first == Credential(token="token-0")
    assert await credentials.current() == first
    assert credentials.refused(first)
    assert (await credentials.current()).token == "token-1"
    assert credentials.refused(first)
    assert (await credentials.current()).token == "token-1", "a late refusal of the old one costs nothing"


async def test_exec_is_asked_before_expiry(tmp_path: Path) -> None:
    """A credential is renewed shortly before it expires."""
    clock = ManualClock()
    credentials = _plugin(tmp_path, _counting(tmp_path, expirationTimestamp="2026-01-01T01:00:00Z"), clock)
    assert (await credentials.current()).token == "token-0"
    clock.advance(3500)
    assert (await credentials.current()).token == "token-0"
    clock.advance(80)
    assert (await credentials.current()).token == "token-1"


async def test_exec_gives_certificates(tmp_path: Path) -> None:
    """A plugin may give a client certificate instead of a token."""
    status = {"clientCertificateData": "CERT", "clientKeyData": "KEY"}
    credentials = _plugin(tmp_path, f"print(json.dumps({{'status': {status!r}}}))")
    assert await credentials.current() == Credential(certificate=b"CERT", key=b"KEY")


async def test_exec_is_told_about_the_cluster(tmp_path: Path) -> None:
    """The plugin finds its own variables and, where asked for, the cluster in its environment."""
    source = f"""
json.dump([json.loads(os.environ["KUBERNETES_EXEC_INFO"]), os.environ["MINE"]], open({str(tmp_path / "seen")!r}, "w"))
print('{{"status": {{"token": "t"}}}}')
"""
    await _plugin(tmp_path, source, env={"MINE": "yes"}, cluster_info=True).current()
    info, mine = json.loads((tmp_path / "seen").read_text())
    assert mine == "yes"
    assert info["apiVersion"] == "client.authentication.k8s.io/v1"
    assert info["spec"]["interactive"] is False
    assert info["spec"]["cluster"]["server"] == "https://example.com"
    assert info["spec"]["cluster"]["certificate-authority-data"] == "Y2E="


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit('log in first')", "failed with exit code 1: log in first"),
        ("print('hello')", "printed no ExecCredential"),
        ("print('{}')", "printed no ExecCredential: .*status"),
    ],
)
async def test_failing_exec(tmp_path: Path, source: str, message: str) -> None:
    """A plugin that fails is one clear sentence with what it said."""
    with pytest.raises(KubeconfigError, match=message):
        await _plugin(tmp_path, source).current()


async def test_missing_exec() -> None:
    """A plugin that is not installed is answered with the hint of its kubeconfig."""
    plugin = ExecPlugin("no-such-plugin-here", install_hint="get it from the vendor")
    credentials = credentials_of(replace(_CONFIG, exec_plugin=plugin), ManualClock())
    with pytest.raises(KubeconfigError, match="'no-such-plugin-here' can't be run: No such file") as caught:
        await credentials.current()
    assert caught.value.hint == "get it from the vendor"


async def test_token_file_vanishes_for_a_moment(tmp_path: Path) -> None:
    """While a token file is being rotated the last token serves; a file that never was is an error."""
    clock = ManualClock()
    path = tmp_path / "token"
    credentials = credentials_of(replace(_CONFIG, token_file=path), clock)
    with pytest.raises(KubeconfigError, match="token can't be read"):
        await credentials.current()
    path.write_text("t\n")
    assert (await credentials.current()).token == "t"
    path.unlink()
    clock.advance(61)
    assert (await credentials.current()).token == "t"


async def test_fixed_token() -> None:
    """A token out of a kubeconfig is what it is: asking again brings no other."""
    credentials = credentials_of(replace(_CONFIG, token="t"), ManualClock())
    credential = await credentials.current()
    assert credential == Credential(token="t")
    assert not credentials.refused(credential)
