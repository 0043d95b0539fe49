"""kubeconfig files, read and merged as kubectl does.

https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.config import ClusterConfig, ExecPlugin, InteractiveMode, OidcProvider, read
from pyopscaffold.runtime.client.proxy import checked_proxy

_V1, _V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


def from_files(files: list[Path], context: str) -> ClusterConfig:
    """Return what a context ('' for the current one) of the merged files says; raises KubeconfigError."""
    documents = [(path, document) for path in files if (document := _document(path))]
    where = os.pathsep.join(map(str, files))
    current = context or next((str(d["current-context"]) for _, d in documents if d.get("current-context")), "")
    contexts = _entries(documents, "contexts", "context")
    if not current:
        raise KubeconfigError(
            f"{where}: no current-context is set", hint=f"name one of: {', '.join(sorted(contexts)) or '(none)'}"
        )
    chosen = _pick(contexts, current, "context", where)
    cluster = _pick(_entries(documents, "clusters", "cluster"), chosen.text("cluster"), "cluster", where)
    users = _entries(documents, "users", "user")
    user = _pick(users, chosen.text("user"), "user", where) if chosen.text("user") else _Entry("", {}, cluster.file)
    return _config(chosen, cluster, user)


@dataclass(frozen=True)
class _Entry:
    """A named entry, with the file that defines it: relative paths are relative to that."""

    name: str
    values: Mapping[str, Any]
    file: Path

    def text(self, key: str) -> str:
        value = self.values.get(key)
        return "" if value is None else str(value)

    def path(self, key: str) -> Path | None:
        """Return the file that ``key`` names, None where ``<key>-data`` overrides it."""
        return self.file.parent / self.text(key) if self.text(key) and not self.text(f"{key}-data") else None

    def data(self, key: str) -> bytes:
        """Return the bytes of ``<key>-data``, else of the file that ``<key>`` names."""
        if encoded := self.text(f"{key}-data"):
            try:
                return base64.b64decode(encoded, validate=True)
            except binascii.Error as error:
                raise KubeconfigError(f"{self.file}: {key}-data of {self.name!r} is no base64") from error
        path = self.path(key)
        return read(path, f"{self.file}: {key} of {self.name!r}") if path else b""

    def refuse(self, complaint: str, hint: str | None = None) -> KubeconfigError:
        return KubeconfigError(f"{self.file}: user {self.name!r} {complaint}", hint=hint)


def _config(context: _Entry, cluster: _Entry, user: _Entry) -> ClusterConfig:
    server = cluster.text("server")
    if not server.startswith(("http://", "https://")):
        raise KubeconfigError(f"{cluster.file}: server of cluster {cluster.name!r} is no URL: {server!r}")
    certificate, key = user.data("client-certificate"), user.data("client-key")
    if bool(certificate) != bool(key):
        raise user.refuse("needs client-certificate and client-key, not just one")
    if user.text("username") or user.text("password"):
        raise user.refuse(
            "has a username and password, which the API server takes no more",
            "use a token, a client certificate or an exec plugin",
        )
    if not user.text("as") and any(user.values.get(key) for key in ("as-uid", "as-groups", "as-user-extra")):
        raise user.refuse("has as-uid, as-groups or as-user-extra, but not as")
    extra = user.values.get("as-user-extra") or {}
    plugin, oidc = _exec_plugin(user, cluster), _oidc(user)
    if plugin and oidc:
        raise user.refuse("has exec and auth-provider, of which only one can be")
    if user.text("token") or user.text("tokenFile") or certificate:
        plugin = None  # as kubectl has it: what is at hand needs no program
    return ClusterConfig(
        server=server.rstrip("/"),
        ca=cluster.data("certificate-authority"),
        ca_file=cluster.path("certificate-authority"),
        insecure=bool(cluster.values.get("insecure-skip-tls-verify")),
        tls_server_name=cluster.text("tls-server-name"),
        proxy=checked_proxy(cluster.text("proxy-url"), f"{cluster.file}: proxy-url of cluster {cluster.name!r}"),
        compression=not cluster.values.get("disable-compression"),
        namespace=context.text("namespace") or "default",
        token=user.text("token"),
        token_file=user.path("tokenFile"),
        client_certificate=certificate,
        client_certificate_file=user.path("client-certificate"),
        client_key=key,
        client_key_file=user.path("client-key"),
        exec_plugin=plugin,
        oidc=oidc,
        impersonate_user=user.text("as"),
        impersonate_uid=user.text("as-uid"),
        impersonate_groups=tuple(user.values.get("as-groups") or ()),
        impersonate_extra={str(name): tuple(map(str, values or ())) for name, values in extra.items()},
    )


def _exec_plugin(user: _Entry, cluster: _Entry) -> ExecPlugin | None:
    values = user.values.get("exec")
    if not isinstance(values, Mapping):
        return None
    plugin = _Entry(user.name, values, user.file)
    api_version = plugin.text("apiVersion")
    if api_version not in {_V1, _V1BETA1}:
        raise KubeconfigError(f"{user.file}: exec of user {user.name!r} has the unknown apiVersion {api_version!r}")
    command = plugin.text("command")
    if not command:
        raise KubeconfigError(f"{user.file}: exec of user {user.name!r} has no command")
    mode = plugin.text("interactiveMode") or ("IfAvailable" if api_version == _V1BETA1 else "")
    if mode not in {"Never", "IfAvailable", "Always"}:
        raise KubeconfigError(
            f"{user.file}: exec of user {user.name!r} has the interactiveMode {mode!r}",
            hint="it is one of Never, IfAvailable, Always",
        )
    return ExecPlugin(
        # a command with a folder in it is relative to the file, a bare one is looked up in $PATH
        command=str(user.file.parent / command) if os.sep in command else command,
        args=tuple(map(str, values.get("args") or ())),
        env={str(pair["name"]): str(pair["value"]) for pair in values.get("env") or ()},
        api_version=api_version,
        install_hint=plugin.text("installHint").strip(),
        interactive_mode=cast("InteractiveMode", mode),
        cluster_info=bool(values.get("provideClusterInfo")),
        cluster_config=_extension(cluster, _EXEC_EXTENSION),
    )


def _extension(cluster: _Entry, name: str) -> Any:
    for item in cluster.values.get("extensions") or ():
        if isinstance(item, Mapping) and item.get("name") == name:
            return item.get("extension")
    return None


def _oidc(user: _Entry) -> OidcProvider | None:
    provider = user.values.get("auth-provider")
    if not provider:
        return None
    name = str(provider.get("name", "")) if isinstance(provider, Mapping) else ""
    if name != "oidc":
        raise user.refuse(
            f"has the auth-provider {name!r}, which Kubernetes has removed",
            "log in anew, so that the provider's tool writes an exec plugin",
        )
    values = _Entry(user.name, provider.get("config") or {}, user.file)
    for needed in ("idp-issuer-url", "client-id"):
        if not values.text(needed):
            raise user.refuse(f"has an auth-provider without {needed}")
    return OidcProvider(
        issuer=values.text("idp-issuer-url").rstrip("/"),
        client_id=values.text("client-id"),
        client_secret=values.text("client-secret"),
        id_token=values.text("id-token"),
        refresh_token=values.text("refresh-token"),
        ca=values.data("idp-certificate-authority"),
        kubeconfig=user.file,
        user=user.name,
    )


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise KubeconfigError(f"the kubeconfig {path} can't be read: {reason}") from error
    except yaml.YAMLError as error:
        raise KubeconfigError(f"the kubeconfig {path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, Mapping | None):
        raise KubeconfigError(f"the kubeconfig {path} is no mapping")
    return document or {}


def _entries(documents: list[tuple[Path, Mapping[str, Any]]], section: str, key: str) -> dict[str, _Entry]:
    found: dict[str, _Entry] = {}
    for path, document in documents:
        for item in document.get(section) or ():
            if not isinstance(item, Mapping) or not isinstance(item.get(key) or {}, Mapping):
                raise KubeconfigError(f"{path}: an entry of {section} is no mapping")
            name = str(item.get("name", ""))
            found.setdefault(name, _Entry(name, item.get(key) or {}, path))
    return found


def _pick(entries: Mapping[str, _Entry], name: str, what: str, where: str) -> _Entry:
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


def _auth_provider(document: Mapping[str, Any], user: str) -> dict[str, str]:
    try:
        found = next(item for item in document["users"] if item["name"] == user)["user"]["auth-provider"]["config"]
    except (KeyError, TypeError, StopIteration):
        return {}  # somebody has logged in another way meanwhile
    return cast("dict[str, str]", found)
