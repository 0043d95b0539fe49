"""A small HTTP client for an API server, of the standard library alone.

Readiness probes, test fixtures and the stand-in use it, so that none of them depends on the client under test.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import urllib.parse
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    ConnectionFailed,
    Expired,
    Forbidden,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServerError,
    StatusCause,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = dict[str, Any]

USER_AGENT = "pyopscaffold-testing"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

_ATTEMPTS = 11
"""How often a request is sent that the server puts off."""

_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotAllowed,
    409: Conflict,
    410: Expired,
    415: UnsupportedMediaType,
    422: Invalid,
    429: TooManyRequests,
}


class _Connection(http.client.HTTPSConnection):
    """Closes with its last reference: a client may be dropped without a word, in whatever thread it was used."""

    def __del__(self) -> None:
        self.close()


class RestClient:
    """Blocking requests to one API server as one identity; safe to share between threads.

    ``ca`` is the PEM text of the authority that the server's certificate must come from.
    """

    def __init__(self, url: str, *, ca: str, token: str, user_agent: str = USER_AGENT, timeout: float = 10.0) -> None:
        parts = urllib.parse.urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 443
        self._tls = ssl.create_default_context(cadata=ca)
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "User-Agent": user_agent}
        self._timeout = timeout
        self._local = threading.local()

    def get(self, path: str, **query: str) -> Json:
        """Read an object or a list."""
        return self.request("GET", path, query=query)

    def create(self, path: str, body: Mapping[str, Any]) -> Json:
        """Post ``body`` to a collection."""
        return self.request("POST", path, body=body)

    def apply(self, path: str, body: Mapping[str, Any], *, manager: str = "testing") -> Json:
        """Force a server-side apply of ``body``, with strict field validation."""
        query = {"fieldManager": manager, "force": "true", "fieldValidation": "Strict"}
        return self.request("PATCH", path, body=body, query=query, content_type=APPLY)

    def merge(self, path: str, body: Mapping[str, Any]) -> Json:
        """Patch an object or subresource by JSON merge."""
        return self.request("PATCH", path, body=body, content_type=MERGE)

    def delete(
        self, path: str, *, uid: str | None = None, version: str | None = None, policy: str = "Background"
    ) -> Json:
        """Delete an object; if ``uid`` is given only that very one, if ``version`` is given only as it was then."""
        wanted = {"uid": uid, "resourceVersion": version}
        preconditions = {name: value for name, value in wanted.items() if value is not None}
        options = {"propagationPolicy": policy, "preconditions": preconditions}
        return self.request("DELETE", path, body=options)

    def text(self, path: str) -> str:
        """Read what is no JSON, such as ``/readyz`` or ``/metrics``."""
        return self._exchange("GET", path, None, {}).decode()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        accept: str | None = None,
    ) -> Json:
        """Send one request and give the JSON of its answer.

        Raises:
            ApiError: the server answered with a failure; the subclass is by its code.
            ConnectionFailed: it did not answer.

        """
        target = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        headers = {"Content-Type": content_type} if body is not None else {}
        if accept is not None:
            headers["Accept"] = accept
        payload = None if body is None else json.dumps(body).encode()
        answer: Json = json.loads(self._exchange(method, target, payload, headers))
        return answer

    @property
    def warnings(self) -> tuple[str, ...]:
        """The texts of what the server warned the calling thread of in its last answer."""
        headers: list[str] = getattr(self._local, "warnings", [])
        return tuple(json.loads(f'"{header.partition(chr(34))[2]}') for header in headers)

    def close(self) -> None:
        """Close the calling thread's connection."""
        kept: _Connection | None = getattr(self._local, "connection", None)
        if kept is not None:
            kept.close()
            self._local.connection = None

    def _connection(self, *, timeout: float) -> _Connection:
        return _Connection(self._host, self._port, context=self._tls, timeout=timeout)

    def _exchange(self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]) -> bytes:
        try:
            for left in reversed(range(_ATTEMPTS)):
                status, answer, wait = self._send(method, target, payload, headers)
                if status != http.client.TOO_MANY_REQUESTS or not left:
                    break
                # The storage of a new CRD is not there at once; the server says how long that takes, in seconds.
                time.sleep(float(wait or 1))
        except (OSError, http.client.HTTPException) as error:
            self.close()
            why = str(error) or type(error).__name__
            raise ConnectionFailed(f"no answer from https://{self._host}:{self._port}: {why}") from error
        if status >= http.client.BAD_REQUEST:
            raise failure(status, answer)
        return answer

    def _send(
        self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, str | None]:
        """Return status, body and Retry-After of an answer."""
        kept: _Connection | None = getattr(self._local, "connection", None)
        connection = kept or self._connection(timeout=self._timeout)
        self._local.connection = connection
        try:
            connection.request(method, target, body=payload, headers={**self._headers, **headers})
            response = connection.getresponse()
        except (ConnectionError, ssl.SSLEOFError):
            # A kept connection may have been closed by the server since: that request was never read.
            if kept is None:
                raise
            self.close()
            return self._send(method, target, payload, headers)
        self._local.warnings = response.headers.get_all("Warning") or []
        return response.status, response.read(), response.getheader("Retry-After")


def failure(status: int, answer: bytes) -> ApiError:
    """Turn an HTTP failure, whose body is a ``metav1.Status`` or plain text, into an error of our tree."""
    try:
        said: Json = json.loads(answer)
        details = said.get("details") or {}
    except (ValueError, AttributeError):
        said, details = {"message": answer.decode(errors="replace").strip()}, {}
    reason = said.get("reason", "")
    kind = AlreadyExists if reason == "AlreadyExists" else _BY_CODE.get(status, ServerError)
    causes = [
        StatusCause(reason=cause.get("reason", ""), message=cause.get("message", ""), field=cause.get("field", ""))
        for cause in details.get("causes") or ()
    ]
    return kind(
        said.get("message") or f"HTTP {status}",
        code=status,
        reason=reason,
        causes=causes,
        retry_after=details.get("retryAfterSeconds"),
    )
