"""What a test or a tool holds of a running API server: where it is, whom it trusts, and who may call."""

from __future__ import annotations

import base64
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.audit import AuditLog
from pyopscaffold.testing.rest import USER_AGENT, RestClient

if TYPE_CHECKING:
    from collections.abc import Mapping

ADMIN = "admin"
_TOKEN_SECONDS = 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Somebody whom the API server knows by a bearer token."""

    user: str
    token: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ApiServer:
    """A running API server.

    ``ca`` is PEM text; ``directory`` is a private folder that lives as long as the control plane; ``identities`` are
    those it was started with, the all-powerful ``admin`` among them; ``kubectl`` is the client of the same version.
    """

    url: str
    ca: str
    directory: Path
    identities: tuple[Identity, ...]
    kubectl: Path
    audited: bool = False

    @property
    def admin(self) -> Identity:
        """The member of system:masters."""
        return self.identity(ADMIN)

    @property
    def audit_log(self) -> AuditLog:
        """Every request so far.

        Raises:
            EnvtestError: the control plane was started without ``audit=True``.

        """
        if not self.audited:
            raise EnvtestError("this control plane keeps no audit log", hint="start it with ControlPlane(audit=True)")
        return AuditLog(self.directory / "audit.log")

    def identity(self, user: str) -> Identity:
        """Give one of the identities that the server was started with.

        Raises:
            EnvtestError: there is none of that name.

        """
        for known in self.identities:
            if known.user == user:
                return known
        names = ", ".join(known.user for known in self.identities)
        raise EnvtestError(f"the API server knows no user {user!r}", hint=f"it knows {names}; add it before the start")

    def client(
        self, identity: Identity | None = None, *, user_agent: str = USER_AGENT, timeout: float = 10.0
    ) -> RestClient:
        """Give a client that speaks as ``identity``, else as admin; ``timeout`` is in seconds, for each answer."""
        token = (identity or self.admin).token
        return RestClient(self.url, ca=self.ca, token=token, user_agent=user_agent, timeout=timeout)

    def service_account(self, namespace: str, name: str) -> Identity:
        """Make the ServiceAccount, if it is not there, and ask the server for a token of it, good for a day.

        The namespace must exist. What the account may do is up to the RBAC that was applied.
        """
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}"
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_SECONDS},
        }
        client = self.client()
        try:
            client.apply(path, account)
            token = client.create(f"{path}/token", request)["status"]["token"]
        finally:
            client.close()
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
        return Identity(user=f"system:serviceaccount:{namespace}:{name}", token=token, groups=groups)

    def kubeconfig(
        self, identity: Identity | None = None, *, namespace: str = "default", path: Path | None = None
    ) -> Path:
        """Write a kubeconfig that only its owner can read, and give its path; by default in ``directory``."""
        import yaml  # noqa: PLC0415 - a pytest run that writes none should not pay for it

        who = identity or self.admin
        if path is None:
            path = self.directory / f"{_file_name(who.user)}.{namespace}.kubeconfig"
        text = yaml.safe_dump(_kubeconfig(self, who, namespace), sort_keys=False)
        # Workers of one test run may write the same file: nobody is to read a half of it.
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=".kubeconfig-")
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(partial).replace(path)
        return path


def _kubeconfig(server: ApiServer, who: Identity, namespace: str) -> Mapping[str, Any]:
    """Shape: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/."""
    authority = base64.b64encode(server.ca.encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "envtest", "cluster": {"server": server.url, "certificate-authority-data": authority}}],
        "users": [{"name": who.user, "user": {"token": who.token}}],
        "contexts": [{"name": "envtest", "context": {"cluster": "envtest", "user": who.user, "namespace": namespace}}],
        "current-context": "envtest",
    }


def _file_name(user: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in user)
