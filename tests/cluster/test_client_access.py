"""How the client comes to a real API server: as whom, by which way, trusting whom."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold import errors
from pyopscaffold.kube.builtin import CONFIG_MAP, NAMESPACE
from pyopscaffold.runtime.client import config
from pyopscaffold.runtime.client.http import HttpClient
from tests.unit.runtime.client.connect_proxy import connect_proxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pyopscaffold.testing import ApiServer

_WHO_AM_I = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


@asynccontextmanager
async def _connected(found: config.ClusterConfig) -> AsyncIterator[HttpClient]:
    client = HttpClient(found)
    try:
        yield client
    finally:
        await client.close()


async def _user(client: HttpClient) -> dict[str, Any]:
    answer = await client.create(_WHO_AM_I, field_manager="tests")
    found: dict[str, Any] = answer["status"]["userInfo"]
    return found


def _with_user(kubeconfig: Path, folder: Path, **user: Any) -> Path:
    """Write a kubeconfig beside which another user stands in the place of the admin."""
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] = user
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_exec_plugin(api_server: ApiServer, kubeconfig: Path, tmp_path: Path, version: str) -> None:
    """A plugin of either version gives the token, and gives another when the server refuses the first, in one call."""
    api_version = f"client.authentication.k8s.io/{version}"
    (tmp_path / "tokens").write_text(f"expired {api_server.admin.token}")
    (tmp_path / "plugin").write_text(f"""#!{sys.executable}
import json, os, pathlib
tokens = pathlib.Path(os.environ["TOKENS"])
first, *others = tokens.read_text().split()
tokens.write_text(" ".join(others))
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["spec"]["cluster"]["server"] == "{api_server.url}"
print(json.dumps({{"apiVersion": info["apiVersion"], "kind": "ExecCredential", "status": {{"token": first}}}}))
""")
    (tmp_path / "plugin").chmod(0o700)
    plugin = {
        "apiVersion": api_version,
        "command": "./plugin",
        "env": [{"name": "TOKENS", "value": str(tmp_path / "tokens")}],
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    async with _connected(config.load(_with_user(kubeconfig, tmp_path, exec=plugin))) as client:
        assert (await _user(client))["username"] == "admin"
        assert (await _user(client))["username"] == "admin"
    assert (tmp_path / "tokens").read_text() == ""


async def test_a_token_file_that_is_renewed(api_server: ApiServer, kubeconfig: Path, tmp_path: Path) -> None:
    """A token that the server refuses is read anew from its file at once, without waiting for the minute."""
    token = tmp_path / "token"
    token.write_text("expired")
    async with _connected(config.load(_with_user(kubeconfig, tmp_path, tokenFile="token"))) as client:
        with pytest.raises(errors.Unauthorized):
            await client.list(NAMESPACE)
        token.write_text(api_server.admin.token)
        assert await client.list(NAMESPACE)


async def test_through_a_proxy(api_server: ApiServer, kubeconfig: Path) -> None:
    """The server is reached through a proxy that alone knows the way, under the name that its certificate has."""
    async with connect_proxy({"api.example": int(api_server.url.rpartition(":")[2])}) as proxy:
        found = replace(
            config.load(kubeconfig),
            server="https://api.example:6443",
            proxy=f"http://127.0.0.1:{proxy.port}",
            tls_server_name="kubernetes.default.svc",
        )
        async with _connected(found) as client:
            assert await client.list(NAMESPACE)
        async with _connected(replace(found, tls_server_name="")) as client:
            with pytest.raises(errors.ConnectionFailed, match="certificate verify failed: Hostname mismatch"):
                await client.list(NAMESPACE)
    assert set(proxy.targets) == {"api.example:6443"}


async def test_acting_as_somebody(kubeconfig: Path) -> None:
    """User, uid, groups and extra of the one that is acted as reach the server, odd names of extras included."""
    someone = replace(
        config.load(kubeconfig),
        impersonate_user="someone",
        impersonate_uid="42",
        impersonate_groups=("a", "b"),
        impersonate_extra={"example.com/team": ("x", "y"), "50%": ("z",)},
    )
    async with _connected(someone) as client:
        user = await _user(client)
    assert (user["username"], user["uid"]) == ("someone", "42")
    assert user["groups"] == ["a", "b", "system:authenticated"]
    assert user["extra"] == {"example.com/team": ["x", "y"], "50%": ["z"]}


_A = {"server": "https://a.example.com", "certificate-authority-data": "YQ=="}
_B = {"server": "https://b.example.com/path", "tls-server-name": "b", "proxy-url": "http://proxy:3128"}
_ADA = {"token": "ada", "as": "bob", "as-uid": "1", "as-groups": ["g"], "as-user-extra": {"k": ["v"]}}
_CERT = {"client-certificate": "c.pem", "client-key": "k.pem"}


def _document(
    current: str = "",
    contexts: dict[str, Any] | None = None,
    clusters: dict[str, Any] | None = None,
    users: dict[str, Any] | None = None,
) -> dict[str, Any]:
    parts = {"contexts": ("context", contexts), "clusters": ("cluster", clusters), "users": ("user", users)}
    listed = {
        part: [{"name": name, key: value} for name, value in (entries or {}).items()]
        for part, (key, entries) in parts.items()
    }
    return {"apiVersion": "v1", "kind": "Config", "current-context": current, **listed}


@pytest.mark.parametrize(
    "documents",
    [
        [_document("x", {"x": {"cluster": "a", "user": "ada"}}, {"a": _A}, {"ada": _ADA})],
        [_document("x", {"x": {"cluster": "a", "user": "ada"}}), _document("", {}, {"a": _A}, {"ada": _ADA})],
        [
            _document("", {}, {"a": _A}),
            _document("p", {"p": {"cluster": "a", "user": "ada", "namespace": "shop"}}, {"a": _B}, {"ada": _CERT}),
            _document("q", {"p": {"cluster": "b", "user": "ada"}, "q": {}}, {"b": _B}, {"ada": _ADA}),
        ],
        [{}, _document("x", {"x": {"cluster": "b", "user": "ada"}}, {"b": _B}), _document("q", {}, {}, {"ada": _ADA})],
    ],
)
async def test_kubeconfigs_as_kubectl_reads_them(
    api_server: ApiServer, tmp_path: Path, documents: list[dict[str, Any]]
) -> None:
    """Of any files in $KUBECONFIG, we take the server and the user that kubectl takes."""
    paths = [tmp_path / str(number) / "config" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.parent.mkdir()
        path.write_text(yaml.safe_dump(document) if document else "")
        (path.parent / "c.pem").write_text(f"certificate of {path.parent.name}")
        (path.parent / "k.pem").write_text("key")
    environment = {"KUBECONFIG": os.pathsep.join(map(str, paths)), "HOME": str(tmp_path)}
    command = [str(api_server.kubectl), "config", "view", "--minify", "--flatten", "--raw", "-o", "json"]
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.PIPE)
    seen = json.loads((await process.communicate())[0])
    cluster, user = seen["clusters"][0]["cluster"], seen["users"][0]["user"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", environment["KUBECONFIG"])
        found = config.load()
    assert found == config.ClusterConfig(
        server=cluster["server"],
        ca=base64.b64decode(cluster.get("certificate-authority-data", "")),
        tls_server_name=cluster.get("tls-server-name", ""),
        proxy=cluster.get("proxy-url", ""),
        namespace=seen["contexts"][0]["context"].get("namespace", "default"),
        token=user.get("token", ""),
        client_certificate=base64.b64decode(user.get("client-certificate-data", "")),
        client_certificate_file=found.client_certificate_file,
        client_key=base64.b64decode(user.get("client-key-data", "")),
        client_key_file=found.client_key_file,
        impersonate_user=user.get("as", ""),
        impersonate_uid=user.get("as-uid", ""),
        impersonate_groups=tuple(user.get("as-groups", ())),
        impersonate_extra={key: tuple(values) for key, values in user.get("as-user-extra", {}).items()},
    )


async def test_no_trust_without_the_ca(kubeconfig: Path) -> None:
    """A server whose certificate no known authority has signed is not talked to."""
    client = HttpClient(replace(config.load(kubeconfig), ca=b""))
    with pytest.raises(errors.ConnectionFailed, match="certificate verify failed"):
        await client.list(NAMESPACE)
    await client.close()


async def test_skipping_the_check(kubeconfig: Path) -> None:
    """insecure-skip-tls-verify talks to it all the same."""
    client = HttpClient(replace(config.load(kubeconfig), ca=b"", insecure=True))
    assert await client.list(NAMESPACE)
    await client.close()


async def test_impersonation(kubeconfig: Path, namespace: str) -> None:
    """Requests are made in the name of the user that the configuration acts as."""
    someone = replace(config.load(kubeconfig), impersonate_user="someone", impersonate_groups=("a", "b"))
    client = HttpClient(someone)
    with pytest.raises(errors.Forbidden, match='User "someone" cannot list resource "configmaps"'):
        await client.list(CONFIG_MAP, namespace=namespace)
    await client.close()
