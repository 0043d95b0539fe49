"""metav1.Status → the error tree (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from pyopscaffold import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_CODE: dict[int, type[errors.ApiError]] = {
    400: errors.BadRequest,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    409: errors.Conflict,
    410: errors.Expired,
    415: errors.UnsupportedMediaType,
    422: errors.Invalid,
    429: errors.TooManyRequests,
}
_SUCCESS = range(200, 300)
_SERVER_ERROR = 500
_TEXT_MAX = 500
_FIELD_CONFLICT = "FieldManagerConflict"


class _Cause(msgspec.Struct):
    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(msgspec.Struct, rename="camel"):
    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[_Cause] = []
    retry_after_seconds: int = 0


class Status(msgspec.Struct):
    """The part of metav1.Status that clients act on."""

    kind: str = ""
    status: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0
    details: _Details | None = None


_decode = msgspec.json.Decoder(Status).decode


def is_error(code: int) -> bool:
    """Whether an HTTP status says that the request failed; a redirect leads to a login page, not to an answer."""
    return code not in _SUCCESS


def status_of(body: bytes | msgspec.Raw) -> Status | None:
    """Return the Status that a body holds, None if it holds something else (an object, or a proxy's HTML)."""
    try:
        status = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return status if status.kind == "Status" else None


def error_of(code: int, headers: Mapping[str, str], body: bytes | msgspec.Raw, *, where: str) -> errors.ApiError:
    """Return the error for a failed request; ``where`` (``GET /api/v1/pods``) starts its message."""
    status = status_of(body) or Status(message=bytes(body)[:_TEXT_MAX].decode(errors="replace").strip())
    details = status.details or _Details()
    code = status.code or code
    cls = _BY_CODE.get(code) or (errors.ServerError if code >= _SERVER_ERROR else errors.ApiError)
    if status.reason == "AlreadyExists":
        cls = errors.AlreadyExists
    elif cls is errors.Conflict and any(cause.reason == _FIELD_CONFLICT for cause in details.causes):
        cls = errors.FieldConflict
    return cls(
        f"{where}: {status.message or 'no message'} ({code}{' ' + status.reason if status.reason else ''})",
        code=code,
        reason=status.reason,
        causes=[errors.StatusCause(cause.reason, cause.message, cause.field) for cause in details.causes],
        details=errors.StatusDetails(details.name, details.group, details.kind, details.uid),
        retry_after=_retry_after(headers, details),
        said=status.message,
    )


def _retry_after(headers: Mapping[str, str], details: _Details) -> float | None:
    text = headers.get("retry-after", "")
    if text.isdecimal():
        return float(text)
    return float(details.retry_after_seconds) if details.retry_after_seconds else None
