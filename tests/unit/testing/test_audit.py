"""The audit log: what is read of a line, and where logs are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.testing import audit
from pyopscaffold.testing.audit import AuditLog, OwnerReference

if TYPE_CHECKING:
    from pathlib import Path

OWNER = {
    "apiVersion": "db.example.com/v1",
    "kind": "MyDatabase",
    "name": "shop",
    "uid": "1",
    "blockOwnerDeletion": True,
}


def line(body: Any = None) -> str:
    """Give a line of the log, of a patch with this body."""
    event: dict[str, Any] = {
        "user": {"username": "system:serviceaccount:ns:operator"},
        "verb": "patch",
        "requestURI": "/api/v1/namespaces/ns/services/shop",
        "stage": "ResponseComplete",
        "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
    }
    if body is not None:
        event["requestObject"] = body
    return json.dumps(event) + "\n"


@pytest.mark.parametrize(
    ("body", "owners"),
    [
        (
            {"metadata": {"ownerReferences": [OWNER, {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "2"}]}},
            (
                OwnerReference(group="db.example.com", kind="MyDatabase", name="shop", blocking=True),
                OwnerReference(group="", kind="Secret", name="s", blocking=False),
            ),
        ),
        ({"metadata": {"ownerReferences": None}}, ()),
        ({"status": {}}, ()),
        ([{"op": "remove", "path": "/metadata/finalizers/0"}], ()),
        (None, ()),
    ],
)
def test_the_owners_of_a_write_are_read(tmp_path: Path, body: Any, owners: tuple[OwnerReference, ...]) -> None:
    """Owner references are read where a body has them; patches of any form, or no body, have none."""
    (tmp_path / "audit.log").write_text(line(body))
    (record,) = AuditLog(tmp_path / "audit.log").records()
    assert record.owners == owners
    assert record.decision == "allow"


def test_logs_are_kept_where_the_variable_says(tmp_path: Path) -> None:
    """What control planes write in their own folders, which go with them, is in the folder that the variable names."""
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        log = tmp_path / name / "audit.log"
        audit.prepare(log, {audit.KEEP_VARIABLE: str(kept)})
        with log.open("a") as file:
            file.write(line())
        log.unlink()
    assert [len(log.records()) for log in audit.kept_logs(kept)] == [1, 1]


def test_logs_are_not_kept_without_it(tmp_path: Path) -> None:
    """Without the variable nothing is prepared."""
    audit.prepare(tmp_path / "audit.log", {})
    assert list(tmp_path.iterdir()) == []
