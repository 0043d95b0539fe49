"""Credentials that a program prints; the programs are real."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
from pyopscaffold.runtime.client.credentials import Credential, Credentials, credentials_of
from pyopscaffold.runtime.clock import ManualClock
from tests.unit.runtime.fake_api_server import until

if TYPE_CHECKING:
    from pathlib import Path

_CONFIG = ClusterConfig(server="https://example.com", ca=b"ca", proxy="http://proxy:3128")
_V1, _V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
_PRELUDE = """
import json, os, sys
version = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["apiVersion"]
def give(**status): print(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status}))
"""


def _plugin(
    tmp_path: Path, source: str, clock: ManualClock | None = None, config: ClusterConfig = _CONFIG, **options: Any
) -> Credentials:
    """Make credentials that a Python program prints."""
    script = tmp_path / "plugin.py"
    script.write_text(f"{_PRELUDE}\n{source}\n")
    plugin = ExecPlugin(sys.executable, (str(script),), **options)
    return credentials_of(replace(config, exec_plugin=plugin), clock or ManualClock())


def _counting(tmp_path: Path, **status: str) -> str:
    """Source of a program whose token counts its calls."""
    return f"""
path = {str(tmp_path / "calls")!r}
calls = len(open(path).read()) if os.path.exists(path) else 0
open(path, "a").write(".")
give(token=f"token-{{calls}}", **{status!r})
"""


async def test_it_is_asked_once(tmp_path: Path) -> None:
    """A credential without expiry is kept until the server refuses it; who asks meanwhile waits for the one call."""
    credentials = _plugin(tmp_path, _counting(tmp_path))
    first, *others = await asyncio.gather(*(credentials.current() for _ in range(3)))
    assert first == Credential(token="token-0", ca=b"ca")
    assert all(other is first for other in others)
    assert credentials.refused(first)
    assert (await credentials.current()).token == "token-1"
    assert credentials.refused(first)
    assert (await credentials.current()).token == "token-1", "a late refusal of the old one costs nothing"


async def test_it_is_asked_before_expiry(tmp_path: Path) -> None:
    """A credential is renewed shortly before it expires."""
    clock = ManualClock()
    credentials = _plugin(tmp_path, _counting(tmp_path, expirationTimestamp="2026-01-01T01:00:00Z"), clock)
    assert (await credentials.current()).token == "token-0"
    clock.advance(3500)
    assert (await credentials.current()).token == "token-0"
    clock.advance(80)
    assert (await credentials.current()).token == "token-1"


@pytest.mark.parametrize("version", [_V1, _V1BETA1])
async def test_certificates_in_both_versions(tmp_path: Path, version: str) -> None:
    """A plugin of either version may give a client certificate instead of a token."""
    source = "give(clientCertificateData='CERT', clientKeyData='KEY')"
    credentials = _plugin(tmp_path, source, api_version=version)
    assert await credentials.current() == Credential(certificate=b"CERT", key=b"KEY", ca=b"ca")


async def test_a_new_ca_needs_no_new_token(tmp_path: Path) -> None:
    """The CA in its file is followed beside the plugin, which is not asked for it."""
    clock = ManualClock()
    (tmp_path / "ca").write_text("one")
    config = replace(_CONFIG, ca_file=tmp_path / "ca")
    credentials = _plugin(tmp_path, _counting(tmp_path), clock, config)
    assert (await credentials.current()).ca == b"one"
    (tmp_path / "ca").write_text("two")
    clock.advance(60)
    assert await credentials.current() == Credential(token="token-0", ca=b"two")


async def test_it_is_told_about_the_cluster(tmp_path: Path) -> None:
    """The plugin finds its own variables and, where asked for, the cluster in its environment."""
    source = f"""
json.dump([json.loads(os.environ["KUBERNETES_EXEC_INFO"]), os.environ["MINE"]], open({str(tmp_path / "seen")!r}, "w"))
give(token="t")
"""
    await _plugin(tmp_path, source, env={"MINE": "yes"}, cluster_info=True, cluster_config={"audience": "a"}).current()
    info, mine = json.loads((tmp_path / "seen").read_text())
    assert mine == "yes"
    assert info == {
        "apiVersion": _V1,
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": "https://example.com",
                "certificate-authority-data": "Y2E=",
                "proxy-url": "http://proxy:3128",
                "config": {"audience": "a"},
            },
        },
    }
    await _plugin(tmp_path, source, env={"MINE": "yes"}).current()
    assert json.loads((tmp_path / "seen").read_text())[0]["spec"] == {"interactive": False}


_ASKING = """
import asyncio, sys
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin
from pyopscaffold.runtime.client.credentials import credentials_of
from pyopscaffold.runtime.clock import SystemClock
plugin = ExecPlugin(sys.executable, tuple(sys.argv[2:]), interactive_mode=sys.argv[1])
credentials = credentials_of(ClusterConfig(server="https://example.com", exec_plugin=plugin), SystemClock())
print(asyncio.run(credentials.current()).token)
"""
_READING = """
interactive = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["spec"]["interactive"]
give(token=f"{interactive} {sys.stdin.readline().strip()}")
"""


@pytest.mark.parametrize(("mode", "token"), [("Always", "True ada"), ("IfAvailable", "True ada"), ("Never", "False")])
async def test_a_plugin_may_ask_the_person(tmp_path: Path, mode: str, token: str) -> None:
    """At a terminal, a plugin gets it unless its mode is Never, and is told so."""
    script = tmp_path / "plugin.py"
    script.write_text(_PRELUDE + _READING)
    master, slave = pty.openpty()
    os.write(master, b"ada\n")
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _ASKING, mode, str(script), stdin=slave, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    finally:
        os.close(slave)
        os.close(master)
    assert output.decode().strip() == token


async def test_nobody_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, a plugin that needs one is not run, and one that would like one does without."""
    with open(os.devnull) as nothing:  # noqa: ASYNC230, PTH123 - a file descriptor, not a file
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(KubeconfigError, match=r"needs a terminal \(interactiveMode: Always\)"):
            await _plugin(tmp_path, _READING, interactive_mode="Always").current()
        assert (await _plugin(tmp_path, _READING, interactive_mode="IfAvailable").current()).token == "False "


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sys.exit('log in first')", "failed with exit code 1: log in first"),
        ("print('hello')", "printed no ExecCredential"),
        ("print(json.dumps({'apiVersion': version, 'kind': 'ExecCredential'}))", "printed no ExecCredential: .*status"),
        ("version = 'v0'; give(token='t')", "printed the ExecCredential of v0, no ExecCredential client.*/v1"),
        ("give()", "printed neither a token nor a certificate"),
        ("give(clientKeyData='KEY')", "printed a certificate or a key, not both"),
    ],
)
async def test_failing_plugins(tmp_path: Path, source: str, message: str) -> None:
    """A plugin that fails is one clear sentence with what it said."""
    with pytest.raises(KubeconfigError, match=message):
        await _plugin(tmp_path, source).current()


async def test_a_plugin_that_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    """Who gives up on a plugin, at its time limit or before, leaves no process behind."""
    started = tmp_path / "pid"
    source = f"import time; open({str(started)!r} + '.new', 'w').write(str(os.getpid()))"
    source += f"; os.rename({str(started)!r} + '.new', {str(started)!r}); time.sleep(3600)"
    asking = asyncio.create_task(_plugin(tmp_path, source).current())
    await until(started.exists)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


async def test_missing_plugin() -> None:
    """A plugin that is not installed is answered with the hint of its kubeconfig."""
    plugin = ExecPlugin("no-such-plugin-here", install_hint="get it from the vendor")
    credentials = credentials_of(replace(_CONFIG, exec_plugin=plugin), ManualClock())
    with pytest.raises(KubeconfigError, match="'no-such-plugin-here' can't be run: No such file") as caught:
        await credentials.current()
    assert caught.value.hint == "get it from the vendor"
