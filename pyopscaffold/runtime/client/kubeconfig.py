"""kubeconfig files, read and merged as kubectl does.

https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec
import yaml

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin, InteractiveMode, OidcProvider, read
from pyopscaffold.runtime.client.proxy import checked_proxy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_V1, _V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"
_ODD_NAMES = {"token_file": "tokenFile", "as_": "as"}


class _Extension(msgspec.Struct):
    name: str = ""
    extension: Any = None


class _Cluster(msgspec.Struct, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: bytes = b""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[_Extension] = []


class _Variable(msgspec.Struct):
    name: str
    value: str


class _Exec(msgspec.Struct, rename="camel"):
    command: str = ""
    args: list[str] = []
    env: list[_Variable] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class _AuthProvider(msgspec.Struct):
    name: str = ""
    config: dict[str, str] = {}


class _User(msgspec.Struct, rename=lambda name: _ODD_NAMES.get(name, name.replace("_", "-"))):
    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = b""
    token: str = ""
    token_file: str = ""
    as_: str = ""
    as_uid: str = ""
    as_groups: list[str] = []
    as_user_extra: dict[str, list[str]] = {}
    username: str = ""
    password: str = ""
    auth_provider: _AuthProvider | None = None
    exec: _Exec | None = None


class _Context(msgspec.Struct):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(msgspec.Struct):
    name: str = ""
    cluster: _Cluster = msgspec.field(default_factory=_Cluster)


class _NamedUser(msgspec.Struct):
    name: str = ""
    user: _User = msgspec.field(default_factory=_User)


class _NamedContext(msgspec.Struct):
    name: str = ""
    context: _Context = msgspec.field(default_factory=_Context)


class _Kubeconfig(msgspec.Struct, rename="kebab"):
    current_context: str = ""
    clusters: list[_NamedCluster] = []
    users: list[_NamedUser] = []
    contexts: list[_NamedContext] = []


_T = TypeVar("_T")


@dataclass(frozen=True)
class _Entry(Generic[_T]):
    """A named entry, with the file that defines it: relative paths are relative to that."""

    what: str
    name: str
    values: _T
    file: Path

    def path(self, named: str, data: bytes = b"") -> Path | None:
        """Return the file of that name, None where there is none or ``data`` overrides it."""
        return self.file.parent / named if named and not data else None

    def content(self, key: str, named: str, data: bytes) -> bytes:
        """Return ``data``, else what is in the file of that name."""
        path = self.path(named, data)
        return read(path, f"{self.file}: {key} of {self.what} {self.name!r}") if path else data

    def wrong(self, complaint: str, hint: str | None = None) -> KubeconfigError:
        return KubeconfigError(f"{self.file}: {self.what} {self.name!r} {complaint}", hint=hint)


def from_files(files: list[Path], context: str) -> ClusterConfig:
    """Return what a context ('' for the current one) of the merged files says; raises KubeconfigError."""
    typed = [(path, _typed(path, _document(path))) for path in files]
    where = os.pathsep.join(map(str, files))
    current = context or next((each.current_context for _, each in typed if each.current_context), "")
    contexts = _merged("context", ((path, each.name, each.context) for path, file in typed for each in file.contexts))
    clusters = _merged("cluster", ((path, each.name, each.cluster) for path, file in typed for each in file.clusters))
    users = _merged("user", ((path, each.name, each.user) for path, file in typed for each in file.users))
    if not current:
        raise KubeconfigError(
            f"{where}: no current-context is set", hint=f"name one of: {', '.join(sorted(contexts)) or '(none)'}"
        )
    chosen = _pick(contexts, current, "context", where).values
    cluster = _pick(clusters, chosen.cluster, "cluster", where)
    user = _pick(users, chosen.user, "user", where) if chosen.user else _Entry("user", "", _User(), cluster.file)
    return _config(chosen.namespace, cluster, user)


def _config(namespace: str, cluster: _Entry[_Cluster], user: _Entry[_User]) -> ClusterConfig:
    server, who = cluster.values, user.values
    if not server.server.startswith(("http://", "https://")):
        raise cluster.wrong(f"has a server that is no URL: {server.server!r}")
    _check(user)
    certificate = user.content("client-certificate", who.client_certificate, who.client_certificate_data)
    key = user.content("client-key", who.client_key, who.client_key_data)
    if bool(certificate) != bool(key):
        raise user.wrong("needs client-certificate and client-key, not just one")
    plugin = _exec_plugin(user, cluster)
    if who.token or who.token_file or certificate:
        plugin = None  # as kubectl has it: what is at hand needs no program
    return ClusterConfig(
        server=server.server.rstrip("/"),
        ca=cluster.content("certificate-authority", server.certificate_authority, server.certificate_authority_data),
        ca_file=cluster.path(server.certificate_authority, server.certificate_authority_data),
        insecure=server.insecure_skip_tls_verify,
        tls_server_name=server.tls_server_name,
        proxy=checked_proxy(server.proxy_url, f"{cluster.file}: proxy-url of cluster {cluster.name!r}"),
        compression=not server.disable_compression,
        namespace=namespace or "default",
        token=who.token,
        token_file=user.path(who.token_file),
        client_certificate=certificate,
        client_certificate_file=user.path(who.client_certificate, who.client_certificate_data),
        client_key=key,
        client_key_file=user.path(who.client_key, who.client_key_data),
        exec_plugin=plugin,
        oidc=_oidc(user),
        impersonate_user=who.as_,
        impersonate_uid=who.as_uid,
        impersonate_groups=tuple(who.as_groups),
        impersonate_extra={name: tuple(values) for name, values in who.as_user_extra.items()},
    )


def _check(user: _Entry[_User]) -> None:
    who = user.values
    if who.username or who.password:
        raise user.wrong(
            "has a username and password, which the API server takes no more",
            "use a token, a client certificate or an exec plugin",
        )
    if not who.as_ and (who.as_uid or who.as_groups or who.as_user_extra):
        raise user.wrong("has as-uid, as-groups or as-user-extra, but not as")
    if who.exec and who.auth_provider:
        raise user.wrong("has exec and auth-provider, of which only one can be")


def _exec_plugin(user: _Entry[_User], cluster: _Entry[_Cluster]) -> ExecPlugin | None:
    plugin = user.values.exec
    if plugin is None:
        return None
    if plugin.api_version not in {_V1, _V1BETA1}:
        raise user.wrong(f"has exec of the unknown apiVersion {plugin.api_version!r}", f"it is {_V1} or {_V1BETA1}")
    if not plugin.command:
        raise user.wrong("has exec without command")
    mode = plugin.interactive_mode or ("IfAvailable" if plugin.api_version == _V1BETA1 else "")
    if mode not in {"Never", "IfAvailable", "Always"}:
        raise user.wrong(f"has exec of the interactiveMode {mode!r}", "it is one of Never, IfAvailable, Always")
    extensions = {each.name: each.extension for each in cluster.values.extensions}
    return ExecPlugin(
        # a command with a folder in it is relative to the file, a bare one is looked up in $PATH
        command=str(user.file.parent / plugin.command) if os.sep in plugin.command else plugin.command,
        args=tuple(plugin.args),
        env={each.name: each.value for each in plugin.env},
        api_version=plugin.api_version,
        install_hint=plugin.install_hint.strip(),
        interactive_mode=cast("InteractiveMode", mode),
        cluster_info=plugin.provide_cluster_info,
        cluster_config=extensions.get(_EXEC_EXTENSION),
    )


def _oidc(user: _Entry[_User]) -> OidcProvider | None:
    provider = user.values.auth_provider
    if provider is None:
        return None
    if provider.name != "oidc":
        raise user.wrong(
            f"has the auth-provider {provider.name!r}, which Kubernetes has removed",
            "log in anew, so that the provider's tool writes an exec plugin",
        )
    values = provider.config
    for needed in ("idp-issuer-url", "client-id"):
        if not values.get(needed):
            raise user.wrong(f"has an auth-provider without {needed}")
    ca = "idp-certificate-authority"
    try:
        ca_data = msgspec.convert(values.get(f"{ca}-data", ""), bytes)
    except msgspec.ValidationError as error:
        raise user.wrong(f"has an auth-provider whose {ca}-data is no base64") from error
    return OidcProvider(
        issuer=values["idp-issuer-url"].rstrip("/"),
        client_id=values["client-id"],
        client_secret=values.get("client-secret", ""),
        id_token=values.get("id-token", ""),
        refresh_token=values.get("refresh-token", ""),
        ca=user.content(ca, values.get(ca, ""), ca_data),
        kubeconfig=user.file,
        user=user.name,
    )


class _Loader(yaml.SafeLoader):
    """YAML as kubectl reads it: what looks like a time is text."""


_Loader.yaml_implicit_resolvers = {
    first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _document(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - it is a SafeLoader
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise KubeconfigError(f"the kubeconfig {path} can't be read: {reason}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise KubeconfigError(f"the kubeconfig {path} is no YAML: {' '.join(str(error).split())}") from error


def _typed(path: Path, document: Any) -> _Kubeconfig:
    try:
        return msgspec.convert(_without_nulls(document) or {}, _Kubeconfig)
    except msgspec.ValidationError as error:
        raise KubeconfigError(f"the kubeconfig {path} is malformed: {error}") from error


def _without_nulls(value: Any) -> Any:
    """Leave out what is null, which is the same as nothing there."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value if item is not None] if isinstance(value, list) else value


def _merged(what: str, entries: Iterable[tuple[Path, str, _T]]) -> dict[str, _Entry[_T]]:
    found: dict[str, _Entry[_T]] = {}
    for path, name, values in entries:
        found.setdefault(name, _Entry(what, name, values, path))
    return found


def _pick(entries: Mapping[str, _Entry[_T]], name: str, what: str, where: str) -> _Entry[_T]:
    if name not in entries:
        known = ", ".join(sorted(entries)) or "(none)"
        raise KubeconfigError(f"{where}: there is no {what} {name!r}", hint=f"there are: {known}")
    return entries[name]


def auth_provider_of(path: Path, user: str) -> dict[str, str]:
    """Return the auth-provider's values of a user as they now are; raises KubeconfigError."""
    return _auth_provider(_document(path), user)


def save_auth_provider(path: Path, user: str, values: Mapping[str, str]) -> None:
    """Change the auth-provider's values of a user, in the way and under the lock of kubectl.

    Raises:
        OSError: the file can't be written, or another program has its lock.
        KubeconfigError: it can't be read any more.

    """
    target = path.resolve()  # a link stays one
    lock = target.with_name(f"{target.name}.lock")
    os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0o600))
    try:
        document = _document(target)
        _auth_provider(document, user).update(values)
        fresh = target.with_name(f"{target.name}.new")
        fresh.touch(mode=target.stat().st_mode & 0o777)
        fresh.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        fresh.replace(target)
    finally:
        lock.unlink()


def _auth_provider(document: Any, user: str) -> dict[str, str]:
    try:
        found = next(item for item in document["users"] if item["name"] == user)["user"]["auth-provider"]["config"]
    except (KeyError, TypeError, StopIteration):
        return {}  # somebody has logged in another way meanwhile
    return cast("dict[str, str]", found)
