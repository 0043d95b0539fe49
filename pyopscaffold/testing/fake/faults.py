"""Failures on demand: what a FakeCluster answers in place of what is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from pyopscaffold import errors
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.runtime.client.transport import Response

if TYPE_CHECKING:
    from pyopscaffold.testing.fake.calls import Call

_CODES: Final[dict[type[errors.ApiError], tuple[int, str]]] = {
    errors.BadRequest: (400, "BadRequest"),
    errors.Unauthorized: (401, "Unauthorized"),
    errors.Forbidden: (403, "Forbidden"),
    errors.NotFound: (404, "NotFound"),
    errors.MethodNotAllowed: (405, "MethodNotAllowed"),
    errors.AlreadyExists: (409, "AlreadyExists"),
    errors.Conflict: (409, "Conflict"),
    errors.Expired: (410, "Expired"),
    errors.UnsupportedMediaType: (415, "UnsupportedMediaType"),
    errors.Invalid: (422, "Invalid"),
    errors.TooManyRequests: (429, "TooManyRequests"),
    errors.ServerError: (500, "InternalError"),
}


@dataclass
class Fault:
    """An error for the next ``left`` requests that match; what is empty matches everything."""

    error: errors.ClientError
    verb: str
    kind: GroupVersionKind | None
    name: str
    left: int

    def matches(self, call: Call) -> bool:
        """Whether a request is to fail."""
        verb = self.verb in ("", call.verb)
        kind = self.kind is None or self.kind == call.resource.kind
        return self.left > 0 and verb and kind and self.name in ("", call.name)

    def strike(self) -> Response:
        """Return the answer, which the client turns into the error; raises it where there is none."""
        self.left -= 1
        error = self.error
        if not isinstance(error, errors.ApiError):
            raise error
        code, reason = _CODES.get(type(error), (500, "InternalError"))
        causes = [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in error.causes]
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "message": str(error),
            "reason": error.reason or reason,
            "code": error.code or code,
            "details": {"causes": causes},
        }
        headers = {} if error.retry_after is None else {"retry-after": str(int(error.retry_after))}
        return Response(error.code or code, headers, msgspec.json.encode(status))
