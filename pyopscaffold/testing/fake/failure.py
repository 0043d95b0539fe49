"""How a request fails: with a metav1.Status, or with a clear word that the fake does not do what was asked.

Reasons, codes and messages: k8s.io/apimachinery/pkg/api/errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.kube.gvk import GroupVersionKind


class NotSimulatedError(UserError):
    """A FakeCluster was asked for something that it does not do; a real API server would have answered."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"FakeCluster does not simulate {what}", hint="test it on a real API server: the fixture api_server"
        )


@dataclass(frozen=True, order=True)
class Cause:
    """Why a field is refused; ``reason`` is a metav1.CauseType such as ``FieldValueRequired``."""

    field: str
    reason: str
    message: str


@dataclass
class Failure(Exception):  # noqa: N818 - it is the server's answer, and no error of the fake
    """A request that fails; ``status()`` is the body of the answer."""

    code: int
    reason: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)

    def status(self) -> dict[str, Any]:
        """Return the metav1.Status."""
        body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }
        return {key: value for key, value in body.items() if value or key == "metadata"}


def _named(kind: GroupVersionKind, name: str, **more: Any) -> dict[str, Any]:
    """Return the details that name a resource; Invalid names the kind, see ``invalid``."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, **more}
    return {key: value for key, value in details.items() if value}


def not_found(kind: GroupVersionKind, name: str) -> Failure:
    """There is no such object."""
    return Failure(404, "NotFound", f'{kind.group_resource} "{name}" not found', _named(kind, name))


def not_served() -> Failure:
    """There is no such resource."""
    return Failure(404, "NotFound", "the server could not find the requested resource")


def already_exists(kind: GroupVersionKind, name: str) -> Failure:
    """There is one of this name."""
    return Failure(409, "AlreadyExists", f'{kind.group_resource} "{name}" already exists', _named(kind, name))


def conflict(kind: GroupVersionKind, name: str, why: str) -> Failure:
    """The object is not what the request takes it for."""
    message = f'Operation cannot be fulfilled on {kind.group_resource} "{name}": {why}'
    return Failure(409, "Conflict", message, _named(kind, name))


def stale(kind: GroupVersionKind, name: str) -> Failure:
    """The resourceVersion is not the newest."""
    return conflict(
        kind,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def owned_by_others(causes: Iterable[Cause]) -> Failure:
    """An apply that would take fields from other managers, unforced."""
    found = sorted(causes)
    plural = "" if len(found) == 1 else "s"
    listed = "; ".join(f"{cause.message}: {cause.field}" for cause in found)
    message = f"Apply failed with {len(found)} conflict{plural}: {listed}"
    return Failure(409, "Conflict", message, {"causes": [vars(cause) for cause in found]})


def invalid(kind: GroupVersionKind, name: str, causes: Iterable[Cause]) -> Failure:
    """The object does not pass validation."""
    found = sorted(causes)
    listed = [f"{cause.field}: {cause.message}" for cause in found]
    text = listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"
    details = {"name": name, "group": kind.group, "kind": kind.kind, "causes": [vars(cause) for cause in found]}
    message = f'{kind.group_kind} "{name}" is invalid: {text}'
    return Failure(422, "Invalid", message, {key: value for key, value in details.items() if value})


def forbidden(kind: GroupVersionKind, name: str, why: str, causes: Iterable[Cause] = ()) -> Failure:
    """The server does not allow it, whoever asks."""
    details = _named(kind, name, causes=[vars(cause) for cause in causes])
    return Failure(403, "Forbidden", f'{kind.group_resource} "{name}" is forbidden: {why}', details)


def bad_request(message: str) -> Failure:
    """The request makes no sense."""
    return Failure(400, "BadRequest", message)


def expired(message: str) -> Failure:
    """The version asked for is forgotten."""
    return Failure(410, "Expired", message)
