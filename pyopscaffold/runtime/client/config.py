"""Where the API server is and who we are to it: kubeconfig files, or the pod's service account.

https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyopscaffold.errors import KubeconfigError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class ExecPlugin:
    """A program that prints an ExecCredential (client.authentication.k8s.io)."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""
    cluster_info: bool = False


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """One server and one user. ``token_file`` wins over ``token``; certificates and keys are PEM."""

    server: str
    ca: bytes = b""
    insecure: bool = False
    tls_server_name: str = ""
    proxy: str = ""
    namespace: str = "default"
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    client_certificate: bytes = b""
    client_key: bytes = field(default=b"", repr=False)
    exec_plugin: ExecPlugin | None = None
    impersonate_user: str = ""
    impersonate_groups: tuple[str, ...] = ()


def load(kubeconfig: str | Path | None = None, context: str = "") -> ClusterConfig:
    """Find the cluster as controller-runtime does.

    The file given; else those that $KUBECONFIG lists (the first to define a name wins); else the pod's service account;
    else ``~/.kube/config``. ``context`` defaults to the file's current context.

    Raises:
        KubeconfigError: there is none, or it is broken; names the file and the entry.

    """
    if kubeconfig is not None:
        return _from_files([Path(kubeconfig)], context)
    if listed := [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]:
        existing = [path for path in listed if path.exists()]
        if not existing:
            raise KubeconfigError(f"$KUBECONFIG names {listed[0]}, which does not exist")
        return _from_files(existing, context)
    if not context and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster()
    home = Path.home() / ".kube" / "config"
    if not home.exists():
        raise KubeconfigError(
            "no cluster is configured: neither --kubeconfig nor $KUBECONFIG is given, this is no pod, "
            "and ~/.kube/config does not exist",
            hint="point --kubeconfig or $KUBECONFIG to a kubeconfig file",
        )
    return _from_files([home], context)


def in_cluster(folder: Path = SERVICE_ACCOUNT) -> ClusterConfig:
    """Use the service account of the pod that we run in; ``folder`` is where it is mounted.

    Raises:
        KubeconfigError: this is no pod, or its service account is not mounted.

    """
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise KubeconfigError("this is no pod: $KUBERNETES_SERVICE_HOST is not set")
    token_file = folder / "token"
    if not token_file.exists():
        raise KubeconfigError(
            f"the pod has no service account token at {token_file}",
            hint="set automountServiceAccountToken: true on the pod or its service account",
        )
    namespace_file = folder / "namespace"
    return ClusterConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca=_read(folder / "ca.crt", "the pod's CA"),
        token_file=token_file,
        namespace=namespace_file.read_text().strip() if namespace_file.exists() else "default",
    )


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
        return self.file.parent / self.text(key) if self.text(key) else None

    def data(self, key: str) -> bytes:
        """Return the bytes of ``<key>-data``, else of the file that ``<key>`` names."""
        if encoded := self.text(f"{key}-data"):
            try:
                return base64.b64decode(encoded, validate=True)
            except binascii.Error as error:
                raise KubeconfigError(f"{self.file}: {key}-data of {self.name!r} is no base64") from error
        path = self.path(key)
        return _read(path, f"{self.file}: {key} of {self.name!r}") if path else b""


def _from_files(files: list[Path], context: str) -> ClusterConfig:
    documents = [(path, _document(path)) for path in files]
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


def _config(context: _Entry, cluster: _Entry, user: _Entry) -> ClusterConfig:
    server = cluster.text("server")
    if not server.startswith(("http://", "https://")):
        raise KubeconfigError(f"{cluster.file}: server of cluster {cluster.name!r} is no URL: {server!r}")
    if user.values.get("auth-provider"):
        raise KubeconfigError(
            f"{user.file}: user {user.name!r} has an auth-provider, which Kubernetes has removed",
            hint="log in anew, so that the provider's tool writes an exec plugin",
        )
    certificate, key = user.data("client-certificate"), user.data("client-key")
    if bool(certificate) != bool(key):
        raise KubeconfigError(f"{user.file}: user {user.name!r} needs client-certificate and client-key, not just one")
    return ClusterConfig(
        server=server.rstrip("/"),
        ca=cluster.data("certificate-authority"),
        insecure=bool(cluster.values.get("insecure-skip-tls-verify")),
        tls_server_name=cluster.text("tls-server-name"),
        proxy=cluster.text("proxy-url"),
        namespace=context.text("namespace") or "default",
        token=user.text("token"),
        token_file=user.path("tokenFile"),
        client_certificate=certificate,
        client_key=key,
        exec_plugin=_exec_plugin(user),
        impersonate_user=user.text("as"),
        impersonate_groups=tuple(user.values.get("as-groups") or ()),
    )


def _exec_plugin(user: _Entry) -> ExecPlugin | None:
    values = user.values.get("exec")
    if not isinstance(values, Mapping):
        return None
    plugin = _Entry(user.name, values, user.file)
    api_version = plugin.text("apiVersion")
    if api_version not in {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}:
        raise KubeconfigError(f"{user.file}: exec of user {user.name!r} has the unknown apiVersion {api_version!r}")
    command = plugin.text("command")
    if not command:
        raise KubeconfigError(f"{user.file}: exec of user {user.name!r} has no command")
    return ExecPlugin(
        # a command with a folder in it is relative to the file, a bare one is looked up in $PATH
        command=str(user.file.parent / command) if os.sep in command else command,
        args=tuple(map(str, values.get("args") or ())),
        env={str(pair["name"]): str(pair["value"]) for pair in values.get("env") or ()},
        api_version=api_version,
        install_hint=plugin.text("installHint").strip(),
        cluster_info=bool(values.get("provideClusterInfo")),
    )


def _document(path: Path) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 - a pod never reads YAML

    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise KubeconfigError(f"the kubeconfig {path} can't be read: {reason}") from error
    except yaml.YAMLError as error:
        raise KubeconfigError(f"the kubeconfig {path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, Mapping):
        raise KubeconfigError(f"the kubeconfig {path} is empty or no mapping")
    return document


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


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KubeconfigError(f"{what}: {path} can't be read: {error.strerror}") from error
