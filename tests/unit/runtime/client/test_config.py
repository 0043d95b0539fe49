"""Finding the cluster and the user."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client import config


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start from an environment that names no cluster."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")


def _write(path: Path, *, name: str = "a", user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        yaml.safe_dump(
            {
                "current-context": name,
                "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": f"ns-{name}"}}],
                "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example.com:6443/", **cluster}}],
                "users": [{"name": name, "user": user or {}}],
            }
        )
    )
    return path


def _b64(text: bytes) -> str:
    return base64.b64encode(text).decode()


def test_file_with_data(tmp_path: Path) -> None:
    """Inline data is decoded, and every field finds its place."""
    user = {"token": "t", "client-certificate-data": _b64(b"cert"), "client-key-data": _b64(b"key"), "as": "me"}
    path = _write(
        tmp_path / "config",
        user={**user, "as-groups": ["g"]},
        **{  # type: ignore[arg-type]  # no name of a parameter is among them
            "certificate-authority-data": _b64(b"ca"),
            "tls-server-name": "other",
            "insecure-skip-tls-verify": True,
            "proxy-url": "http://proxy:3128",
        },
    )
    found = config.load(path)
    assert found == config.ClusterConfig(
        server="https://a.example.com:6443",
        ca=b"ca",
        insecure=True,
        tls_server_name="other",
        proxy="http://proxy:3128",
        namespace="ns-a",
        token="t",
        client_certificate=b"cert",
        client_key=b"key",
        impersonate_user="me",
        impersonate_groups=("g",),
    )


def test_secrets_stay_out_of_logs(tmp_path: Path) -> None:
    """Printing a configuration shows neither token nor key."""
    user = {"token": "s3cret", "client-certificate-data": _b64(b"cert"), "client-key-data": _b64(b"s3cret")}
    assert "s3cret" not in repr(config.load(_write(tmp_path / "config", user=user)))


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    """Files that a kubeconfig names are found beside it, wherever we run."""
    folder = tmp_path / "folder"
    path = _write(
        folder / "config",
        user={"client-certificate": "c.pem", "client-key": "k.pem", "tokenFile": "token"},
        **{"certificate-authority": "ca.pem"},
    )
    for name in ("c.pem", "k.pem", "ca.pem"):
        (folder / name).write_text(name)
    found = config.load(path)
    assert (found.ca, found.client_certificate, found.client_key) == (b"ca.pem", b"c.pem", b"k.pem")
    assert found.token_file == folder / "token"


def test_context_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$KUBECONFIG may list several files, of which the first wins; a context can be named."""
    first = _write(tmp_path / "first", name="a")
    second = _write(tmp_path / "second", name="b")
    monkeypatch.setenv("KUBECONFIG", f"{first}:{tmp_path / 'missing'}:{second}")
    assert config.load().server == "https://a.example.com:6443"
    assert config.load(context="b").namespace == "ns-b"


def test_home(tmp_path: Path) -> None:
    """Without anything else the file in the home folder is used."""
    _write(tmp_path / "home" / ".kube" / "config")
    assert config.load().namespace == "ns-a"


def test_in_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pod uses its service account, and its namespace."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    for name, text in {"token": "t", "ca.crt": "ca", "namespace": "mine\n"}.items():
        (tmp_path / name).write_text(text)
    found = config.in_cluster(tmp_path)
    assert (found.server, found.ca, found.namespace) == ("https://10.0.0.1:443", b"ca", "mine")
    assert found.token_file == tmp_path / "token"
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    assert config.in_cluster(tmp_path).server == "https://[fd00::1]:6443"


def test_pod_comes_before_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pod the service account wins over a file in the home folder, and its absence is said."""
    _write(tmp_path / "home" / ".kube" / "config")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    with pytest.raises(KubeconfigError, match="no service account token") as caught:
        config.load()
    assert "automountServiceAccountToken" in (caught.value.hint or "")


def test_exec_plugin(tmp_path: Path) -> None:
    """An exec plugin keeps its arguments and environment; a command with a folder is relative to the file."""
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "./bin/login",
        "args": ["--for", 7],
        "env": [{"name": "A", "value": "b"}],
        "provideClusterInfo": True,
    }
    found = config.load(_write(tmp_path / "config", user={"exec": plugin})).exec_plugin
    assert found == config.ExecPlugin(
        command=str(tmp_path / "bin/login"),
        args=("--for", "7"),
        env={"A": "b"},
        api_version="client.authentication.k8s.io/v1beta1",
        cluster_info=True,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty or no mapping"),
        ("[1]", "is empty or no mapping"),
        ("a: [", "is no YAML"),
        ("contexts: [{name: x, context: {}}]", "no current-context is set"),
        ("current-context: x", "there is no context 'x'"),
        ("{current-context: x, contexts: [1]}", "an entry of contexts is no mapping"),
        ("{current-context: x, contexts: [{name: x, context: {cluster: c}}]}", "there is no cluster 'c'"),
        (
            "{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {}}]}",
            "server of cluster 'c' is no URL: ''",
        ),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    """A broken file is one clear sentence that names it."""
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(KubeconfigError, match=message) as caught:
        config.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"auth-provider": {"name": "gcp"}}, "which Kubernetes has removed"),
        ({"client-certificate-data": _b64(b"c")}, "needs client-certificate and client-key"),
        ({"client-certificate-data": "*"}, "client-certificate-data of 'a' is no base64"),
        ({"client-certificate": "missing.pem"}, "can't be read: No such file"),
        ({"exec": {"apiVersion": "v0", "command": "x"}}, "unknown apiVersion 'v0'"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "has no command"),
    ],
)
def test_broken_users(tmp_path: Path, user: dict[str, Any], message: str) -> None:
    """A user entry that can't work is refused before any request."""
    with pytest.raises(KubeconfigError, match=message):
        config.load(_write(tmp_path / "config", user=user))


def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is named but absent is said to be, whoever named it; nothing at all has a hint."""
    with pytest.raises(KubeconfigError, match="absent can't be read: No such file"):
        config.load(tmp_path / "absent")
    with pytest.raises(KubeconfigError, match="no cluster is configured") as caught:
        config.load()
    assert "--kubeconfig" in (caught.value.hint or "")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    with pytest.raises(KubeconfigError, match=r"\$KUBECONFIG names .*absent, which does not exist"):
        config.load()


def test_unknown_context_names_the_known(tmp_path: Path) -> None:
    """A mistyped context is answered with those that there are."""
    with pytest.raises(KubeconfigError, match="there is no context 'b'") as caught:
        config.load(_write(tmp_path / "config"), "b")
    assert caught.value.hint == "there are: a"
