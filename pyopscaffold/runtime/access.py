"""Who may read a path of the operator's own: the API server is asked, by TokenReview and SubjectAccessReview.

As controller-runtime's filter does: nobody is anonymous, an identity is kept for a minute, a yes for five, a no for
half a minute. https://kubernetes.io/docs/reference/access-authn-authz/webhook/#request-payloads
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from pyopscaffold.errors import ClientError, KubeconfigError
from pyopscaffold.kube.builtin import SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW
from pyopscaffold.runtime.serving import PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyopscaffold.kube.gvk import GroupVersionKind
    from pyopscaffold.runtime.client.protocols import Writer
    from pyopscaffold.runtime.clock import Clock
    from pyopscaffold.runtime.serving import Answer, Request
    from pyopscaffold.runtime.serving import Handler as Endpoint

V = TypeVar("V")

IDENTITY_KEPT, YES_KEPT, NO_KEPT = 60.0, 300.0, 30.0
_KEPT_MAX = 1000
_REVIEWS_MAX = 8
"""At once: whoever comes with any token causes one, and the lease is renewed by the same client."""
_log = logging.getLogger("pyopscaffold.access")


class Guard:
    """An endpoint that answers only whom the API server lets read its path, by the bearer token of the request."""

    def __init__(self, endpoint: Endpoint, client: Writer, *, clock: Clock) -> None:
        self._endpoint = endpoint
        self._client = client
        self._users: _Kept[Mapping[str, Any]] = _Kept(clock)
        self._strangers: _Kept[None] = _Kept(clock)  # apart, for there may be many, and they drive out nobody
        self._reviews = asyncio.Semaphore(_REVIEWS_MAX)
        self._allowed: _Kept[bool] = _Kept(clock)

    async def __call__(self, request: Request) -> Answer:
        """See Endpoint: 401 without a valid token, 403 without the permission, 500 when nobody can tell."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return 401, PLAIN, b"Unauthorized\n"
        try:
            user = await self._user(token.strip())
            if user is None:
                return 401, PLAIN, b"Unauthorized\n"
            if not await self._may(user, request.method.lower(), request.path):
                return 403, PLAIN, f"{user.get('username', '')} may not read {request.path}\n".encode()
        except (ClientError, KubeconfigError) as error:
            _log.error("who asks for %s can't be reviewed: %s", request.path, error)
            return 500, PLAIN, b"the API server can't be asked\n"
        return await self._endpoint(request)

    async def _user(self, token: str) -> Mapping[str, Any] | None:
        key = hashlib.sha256(token.encode()).digest()
        if (found := self._users.get(key)) is not None:
            return found[0]
        if self._strangers.get(key) is not None:
            return None
        status = await self._review(TOKEN_REVIEW, {"token": token})
        if not status.get("authenticated"):
            self._strangers.put(key, None, IDENTITY_KEPT)
            return None
        user: Mapping[str, Any] = status.get("user") or {}
        self._users.put(key, user, IDENTITY_KEPT)
        return user

    async def _may(self, user: Mapping[str, Any], verb: str, path: str) -> bool:
        key = msgspec.json.encode([user, verb, path])
        found = self._allowed.get(key)
        if found is not None:
            return found[0]
        known = {name: user[source] for name, source in _USER_FIELDS.items() if user.get(source)}
        asked = {"path": path, "verb": verb}
        status = await self._review(SUBJECT_ACCESS_REVIEW, {**known, "nonResourceAttributes": asked})
        allowed = bool(status.get("allowed"))
        self._allowed.put(key, allowed, YES_KEPT if allowed else NO_KEPT)
        return allowed

    async def _review(self, kind: GroupVersionKind, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        review = {"apiVersion": kind.api_version, "kind": kind.kind, "spec": spec}
        async with self._reviews:
            answer = await self._client.create(review, field_manager="metrics")
        return answer.get("status") or {}


_USER_FIELDS = {"user": "username", "uid": "uid", "groups": "groups", "extra": "extra"}
"""A SubjectAccessReview's field → the TokenReview's that fills it."""


class _Kept(Generic[V]):
    """Answers, each for its time; at most a thousand, the oldest go first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: dict[bytes, tuple[float, V]] = {}

    def get(self, key: bytes) -> tuple[V] | None:
        found = self._answers.get(key)
        return None if found is None or found[0] <= self._clock.monotonic() else (found[1],)

    def put(self, key: bytes, value: V, seconds: float) -> None:
        self._answers.pop(key, None)
        while len(self._answers) >= _KEPT_MAX:
            del self._answers[next(iter(self._answers))]
        self._answers[key] = (self._clock.monotonic() + seconds, value)
