"""The API server's audit log: who asked for what, as the server saw it.

Record format: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.gvk import split_api_version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Request", "verbs": ["create", "update", "patch"], "userGroups": ["system:serviceaccounts"]},
        {"level": "Metadata"},
    ],
}
"""Every request, and what service accounts write, for the owner references in it.

A watch is recorded twice: when it is answered, and when it ends.
"""

KEEP_VARIABLE = "PYOPSCAFFOLD_AUDIT_LOGS"
"""Names a folder: every control plane then has an audit log, and keeps it there under a name of its own."""

WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, kw_only=True)
class OwnerReference:
    """An owner that a write names; ``blocking`` where it sets blockOwnerDeletion."""

    group: str
    kind: str
    name: str
    blocking: bool


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """One request; fields that do not apply (``resource`` of ``/readyz``) are empty strings.

    ``stage`` is ``ResponseStarted`` (watches only), ``ResponseComplete`` or ``Panic``; ``code`` is the HTTP status;
    ``time`` is when the server got the request, in RFC 3339. ``decision`` is RBAC's, ``allow`` or ``forbid``: admission
    may refuse what it allows. ``owners`` are those in the body of a service account's write.
    """

    user: str
    verb: str
    uri: str
    code: int
    stage: str
    time: str
    user_agent: str
    group: str
    version: str
    resource: str
    subresource: str
    namespace: str
    name: str
    decision: str = ""
    owners: tuple[OwnerReference, ...] = ()

    @property
    def is_write(self) -> bool:
        """Whether the request meant to change something."""
        return self.verb in WRITES


@dataclass(frozen=True)
class AuditLog:
    """Reads the log at ``path``; the server writes a record before it answers the request's last byte."""

    path: Path

    def records(self, *, user: str | None = None, skip: int = 0) -> tuple[AuditRecord, ...]:
        """All records so far in order, after the first ``skip`` of the whole log; if given, only of ``user``."""
        # A line that is still being written has no line feed yet.
        lines = self.path.read_bytes().splitlines(keepends=True)[skip:] if self.path.exists() else []
        found = (_record(json.loads(line)) for line in lines if line.endswith(b"\n"))
        return tuple(record for record in found if user in (None, record.user))


def is_kept(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the logs of all control planes are to be kept."""
    return bool(environ.get(KEEP_VARIABLE))


def prepare(path: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Have the log that will be written at ``path`` stay where the variable says, if it says so."""
    if is_kept(environ):
        kept = Path(environ[KEEP_VARIABLE]).resolve() / f"{uuid.uuid4().hex}.log"
        kept.touch()
        path.symlink_to(kept)


def kept_logs(folder: Path) -> tuple[AuditLog, ...]:
    """Return the logs that were kept in a folder."""
    return tuple(AuditLog(path) for path in sorted(folder.glob("*.log")))


def _record(event: dict[str, Any]) -> AuditRecord:
    reference = event.get("objectRef") or {}
    return AuditRecord(
        user=(event.get("impersonatedUser") or event["user"]).get("username", ""),
        verb=event["verb"],
        uri=event["requestURI"],
        code=(event.get("responseStatus") or {}).get("code", 0),
        stage=event["stage"],
        time=event["requestReceivedTimestamp"],
        user_agent=event.get("userAgent", ""),
        group=reference.get("apiGroup", ""),
        version=reference.get("apiVersion", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        decision=(event.get("annotations") or {}).get("authorization.k8s.io/decision", ""),
        owners=tuple(_owners(event.get("requestObject"))),
    )


def _owners(body: Any) -> Iterator[OwnerReference]:
    if not isinstance(body, dict):  # a JSON patch is a list
        return
    for reference in (body.get("metadata") or {}).get("ownerReferences") or ():
        group, _ = split_api_version(reference["apiVersion"])
        blocking = bool(reference.get("blockOwnerDeletion"))
        yield OwnerReference(group=group, kind=reference["kind"], name=reference["name"], blocking=blocking)
