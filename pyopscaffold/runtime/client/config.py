"""Where the API server is and who we are to it: kubeconfig files, or the pod's service account."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyopscaffold.errors import KubeconfigError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

InteractiveMode: TypeAlias = Literal["Never", "IfAvailable", "Always"]


@dataclass(frozen=True)
class ExecPlugin:
    """A program that prints an ExecCredential (client.authentication.k8s.io).

    ``interactive_mode`` says whether it gets the terminal, ``cluster_info`` whether it is told of the cluster, and
    ``cluster_config`` what more it is told then.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""
    interactive_mode: InteractiveMode = "Never"
    cluster_info: bool = False
    cluster_config: Any = None


@dataclass(frozen=True, kw_only=True)
class OidcProvider:
    """An ``auth-provider`` of name oidc: an ID token, and what it takes to get the next one.

    New tokens are written to the user ``user`` of ``kubeconfig``, as a provider may take each refresh token only once.
    """

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    id_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    ca: bytes = b""
    kubeconfig: Path | None = None
    user: str = ""


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """One server and one user; certificates and keys are PEM.

    Of each ``…_file`` that is given, the content is read again while the client runs; it comes before the value beside
    it. ``proxy`` is a URL; '' goes by the environment (HTTPS_PROXY, NO_PROXY).
    """

    server: str
    ca: bytes = b""
    ca_file: Path | None = None
    insecure: bool = False
    tls_server_name: str = ""
    proxy: str = ""
    compression: bool = True
    namespace: str = "default"
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    client_certificate: bytes = b""
    client_certificate_file: Path | None = None
    client_key: bytes = field(default=b"", repr=False)
    client_key_file: Path | None = None
    exec_plugin: ExecPlugin | None = None
    oidc: OidcProvider | None = None
    impersonate_user: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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
            "no cluster is configured: $KUBECONFIG is not set, this is no pod, and ~/.kube/config does not exist",
            hint="point $KUBECONFIG to a kubeconfig file",
        )
    return _from_files([home], context)


def _from_files(files: list[Path], context: str) -> ClusterConfig:
    from pyopscaffold.runtime.client.kubeconfig import from_files  # noqa: PLC0415 - a pod reads no YAML

    return from_files(files, context)


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
        ca=read(folder / "ca.crt", "the pod's CA"),
        ca_file=folder / "ca.crt",
        token_file=token_file,
        namespace=namespace_file.read_text().strip() if namespace_file.exists() else "default",
    )


def read(path: Path, what: str) -> bytes:
    """Read a file that a configuration names; raises KubeconfigError, which names it as ``what``."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise KubeconfigError(f"{what}: {path} can't be read: {error.strerror}") from error
