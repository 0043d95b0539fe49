"""Finding the cluster and the user."""

from __future__ import annotations

import base64
import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

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
        user={**user, "as-uid": "u", "as-groups": ["g"], "as-user-extra": {"example.com/team": ["x", "y"]}},
        **{  # type: ignore[arg-type]  # no name of a parameter is among them
            "certificate-authority-data": _b64(b"ca"),
            "tls-server-name": "other",
            "insecure-skip-tls-verify": True,
            "proxy-url": "http://proxy:3128",
            "disable-compression": True,
        },
    )
    found = config.load(path)
    assert found == config.ClusterConfig(
        server="https://a.example.com:6443",
        ca=b"ca",
        insecure=True,
        tls_server_name="other",
        proxy="http://proxy:3128",
        compression=False,
        namespace="ns-a",
        token="t",
        client_certificate=b"cert",
        client_key=b"key",
        impersonate_user="me",
        impersonate_uid="u",
        impersonate_groups=("g",),
        impersonate_extra={"example.com/team": ("x", "y")},
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
    assert (found.ca_file, found.client_certificate_file) == (folder / "ca.pem", folder / "c.pem")
    assert found.client_key_file == folder / "k.pem"


def test_data_comes_before_a_file(tmp_path: Path) -> None:
    """Data beside a file overrides it, and the file is not looked at."""
    user = {"client-certificate": "no", "client-certificate-data": _b64(b"c"), "client-key-data": _b64(b"k")}
    found = config.load(_write(tmp_path / "config", user=user))
    assert (found.client_certificate, found.client_certificate_file) == (b"c", None)


def test_context_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$KUBECONFIG may list several files, of which the first wins; a context can be named."""
    first = _write(tmp_path / "first", name="a")
    second = _write(tmp_path / "second", name="b")
    monkeypatch.setenv("KUBECONFIG", f"{first}:{tmp_path / 'missing'}:{second}")
    assert config.load().server == "https://a.example.com:6443"
    assert config.load(context="b").namespace == "ns-b"


def test_files_are_merged_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context may draw on the clusters and users of other files; of two equal names the first entry wins whole."""
    texts = [
        "contexts: [{name: c, context: {cluster: far, user: ada}}]\ncurrent-context: c",
        "",
        "clusters: [{name: far, cluster: {server: https://one}}]\nusers: [{name: ada, user: {token: t}}]",
        "clusters: [{name: far, cluster: {server: https://two, tls-server-name: x}}]\ncurrent-context: other",
    ]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}").write_text(text)
    monkeypatch.setenv("KUBECONFIG", ":".join(str(tmp_path / f"{number}") for number in range(len(texts))))
    found = config.load()
    assert (found.server, found.tls_server_name, found.token) == ("https://one", "", "t")


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
        "args": ["--for", "7"],
        "env": [{"name": "A", "value": "b"}],
        "provideClusterInfo": True,
    }
    found = config.load(_write(tmp_path / "config", user={"exec": plugin})).exec_plugin
    assert found == config.ExecPlugin(
        command=str(tmp_path / "bin/login"),
        args=("--for", "7"),
        env={"A": "b"},
        api_version="client.authentication.k8s.io/v1beta1",
        interactive_mode="IfAvailable",
        cluster_info=True,
    )


def test_exec_is_told_what_the_cluster_says(tmp_path: Path) -> None:
    """The cluster's extension for plugins is kept for the plugin."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "login", "interactiveMode": "Never"}
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}
    found = config.load(_write(tmp_path / "config", user={"exec": plugin}, extensions=[extension])).exec_plugin
    assert found == config.ExecPlugin("login", cluster_config={"audience": "a"})


def test_what_is_at_hand_comes_before_exec(tmp_path: Path) -> None:
    """A user with a token has no use for a program, as with kubectl."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "login"}
    assert config.load(_write(tmp_path / "config", user={"exec": plugin, "token": "t"})).exec_plugin is None


def test_oidc(tmp_path: Path) -> None:
    """The auth-provider oidc, the one that Kubernetes has kept, is read with the place where new tokens go."""
    values = {
        "idp-issuer-url": "https://login.example.com/",
        "client-id": "operator",
        "client-secret": "s3cret",
        "id-token": "s3cret-id",
        "refresh-token": "s3cret-refresh",
        "idp-certificate-authority-data": _b64(b"ca"),
    }
    path = _write(tmp_path / "config", user={"auth-provider": {"name": "oidc", "config": values}})
    found = config.load(path).oidc
    assert found == config.OidcProvider(
        issuer="https://login.example.com",
        client_id="operator",
        client_secret="s3cret",
        id_token="s3cret-id",
        refresh_token="s3cret-refresh",
        ca=b"ca",
        kubeconfig=path,
        user="a",
    )
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize("url", ["socks5://proxy:1080", "socks5h://proxy:1080"])
def test_socks_is_refused(tmp_path: Path, url: str) -> None:
    """A SOCKS proxy, which kubectl would use, is refused with what to use."""
    with pytest.raises(KubeconfigError, match="proxy-url of cluster 'a' is a SOCKS proxy, which is not supp") as caught:
        config.load(_write(tmp_path / "config", **{"proxy-url": url}))  # type: ignore[arg-type]  # as above
    assert "HTTP proxy" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no current-context is set"),
        ("[1]", "is malformed: Expected `object`, got `array`"),
        ("a: [", "is no YAML"),
        ("contexts: [{name: x, context: {}}]", "no current-context is set"),
        ("current-context: x", "there is no context 'x'"),
        ("{current-context: x, contexts: [1]}", r"is malformed: .* at `\$\.contexts\[0\]`"),
        ("{current-context: x, contexts: [{name: x, context: {cluster: c}}]}", "there is no cluster 'c'"),
        (
            "{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {}}]}",
            "cluster 'c' has a server that is no URL: ''",
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
        ({"auth-provider": {"name": "gcp"}}, "has the auth-provider 'gcp', which Kubernetes has removed"),
        ({"auth-provider": {"name": "oidc"}}, "has an auth-provider without idp-issuer-url"),
        ({"username": "ada", "password": "x"}, "has a username and password, which the API server takes no more"),
        ({"as-groups": ["g"]}, "has as-uid, as-groups or as-user-extra, but not as"),
        (
            {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x"}},
            "user 'a' has exec of the interactiveMode ''",
        ),
        ({"client-certificate-data": _b64(b"c")}, "needs client-certificate and client-key"),
        ({"client-certificate-data": "*"}, "Invalid base64 .*users.*client-certificate-data"),
        ({"client-certificate": "missing.pem"}, "can't be read: No such file"),
        ({"exec": {"apiVersion": "v0", "command": "x"}}, "user 'a' has exec of the unknown apiVersion 'v0'"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "user 'a' has exec without command"),
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
    assert caught.value.hint == "point $KUBECONFIG to a kubeconfig file"
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    with pytest.raises(KubeconfigError, match=r"\$KUBECONFIG names .*absent, which does not exist"):
        config.load()


def test_unknown_context_names_the_known(tmp_path: Path) -> None:
    """A mistyped context is answered with those that there are."""
    with pytest.raises(KubeconfigError, match="there is no context 'b'") as caught:
        config.load(_write(tmp_path / "config"), "b")
    assert caught.value.hint == "there are: a"


_FULL: dict[str, Any] = {
    "current-context": "a",
    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a", "namespace": "n"}}],
    "clusters": [
        {
            "name": "a",
            "cluster": {
                "server": "https://a",
                "certificate-authority-data": "YQ==",
                "proxy-url": "http://p:1",
                "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"a": [1, None]}}],
            },
        }
    ],
    "users": [
        {
            "name": "a",
            "user": {
                "as": "b",
                "as-groups": ["g"],
                "as-user-extra": {"k": ["v"]},
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "x",
                    "args": ["y"],
                    "env": [{"name": "A", "value": "2026-01-01"}],
                    "interactiveMode": "Never",
                },
            },
        },
        {"name": "b", "user": {"auth-provider": {"name": "oidc", "config": {"client-id": "c"}}}},
    ],
}


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in _places(item, (*path, key)))]


@given(
    st.sampled_from([place for place in _places(_FULL) if place]),
    st.none() | st.booleans() | st.integers() | st.text() | st.just([1]) | st.just([{}]) | st.just({"a": 1}),
)
def test_any_damage_is_told(tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], instead: Any) -> None:
    """Whatever stands in a file in the place of what should, it can be used, or the error names the file."""
    document = copy.deepcopy(_FULL)
    target = document
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = instead
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_text(yaml.safe_dump(document))
    try:
        told = config.load(path).server
    except KubeconfigError as error:
        told = str(error) if str(path) in str(error) else ""
    assert told


def test_what_looks_like_a_time_is_text(tmp_path: Path) -> None:
    """Times without quotes are text to kubectl, and so they are to us."""
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(_FULL).replace("'2026-01-01'", "2026-01-01"))
    plugin = config.load(path).exec_plugin
    assert plugin is not None
    assert plugin.env == {"A": "2026-01-01"}
    assert plugin.cluster_config == {"a": [1]}
