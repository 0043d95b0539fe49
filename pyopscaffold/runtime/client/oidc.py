"""The auth-provider ``oidc`` of a kubeconfig: an ID token, renewed with a refresh token.

Kubernetes has removed the other providers and kept this one, so we do what client-go does:
https://kubernetes.io/docs/reference/access-authn-authz/authentication/#option-1-oidc-authenticator
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote_plus

import aiohttp
import msgspec

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.kubeconfig import auth_provider_of, save_auth_provider
from pyopscaffold.runtime.client.proxy import proxy_from_environment

if TYPE_CHECKING:
    from pyopscaffold.runtime.client.config import OidcProvider
    from pyopscaffold.runtime.client.credentials import Credential, Credentials
    from pyopscaffold.runtime.clock import Clock

log = logging.getLogger(__name__)

_EARLY = 10.0
_TIMEOUT = aiohttp.ClientTimeout(total=30.0, sock_connect=10.0)
_TEXT_MAX = 80
_NOT_UNDERSTOOD = {400, 401}
_HINT = "log in anew, or use an exec plugin"


class _Claims(msgspec.Struct):
    exp: float


class _Metadata(msgspec.Struct):
    token_endpoint: str


class _Tokens(msgspec.Struct):
    id_token: str = ""
    refresh_token: str = ""


_T = TypeVar("_T")


class Oidc:
    """The provider's ID token, over ``base``; fetched anew when it has expired."""

    def __init__(self, provider: OidcProvider, base: Credentials, clock: Clock) -> None:
        self._provider = provider
        self._base = base
        self._clock = clock
        self._lock = asyncio.Lock()
        self._id_token = provider.id_token
        self._refresh_token = provider.refresh_token
        self._made: tuple[Credential, Credential] | None = None

    async def current(self) -> Credential:
        """See Credentials."""
        base = await self._base.current()
        async with self._lock:
            if not self._is_valid():
                await self._renew()
            if self._made is None or self._made[0] is not base or self._made[1].token != self._id_token:
                self._made = base, replace(base, token=self._id_token)
            return self._made[1]

    def refused(self, credential: Credential) -> bool:
        """See Credentials: as in client-go, a refusal is no reason to fetch another token before this one expires."""
        return self._base.refused(credential)

    def _is_valid(self) -> bool:
        return bool(self._id_token) and self._clock.now().timestamp() + _EARLY < self._expiry(self._id_token)

    async def _renew(self) -> None:
        """Take the tokens that another client or program has left in the file, else fetch new ones.

        Where a refresh token is good for one time only, the other has made ours void.
        """
        if self._reload():
            return
        try:
            await self._refresh()
        except KubeconfigError:
            if not self._reload():
                raise

    def _reload(self) -> bool:
        provider = self._provider
        if provider.kubeconfig is not None:
            try:
                kept = auth_provider_of(provider.kubeconfig, provider.user)
            except KubeconfigError:
                return False  # it was there once; what we have may do
            self._id_token = kept.get("id-token", self._id_token)
            self._refresh_token = kept.get("refresh-token", self._refresh_token)
        return self._is_valid()

    def _expiry(self, token: str) -> float:
        _, _, rest = token.partition(".")
        payload, _, signature = rest.partition(".")
        try:
            claims = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
            return msgspec.json.decode(claims if signature else b"", type=_Claims).exp
        except ValueError as error:  # DecodeError is one, too
            raise self._failure("has an id-token that is no JWT with an expiry") from error

    async def _refresh(self) -> None:
        if not self._refresh_token:
            raise self._failure("has no valid id-token, and no refresh-token to get one")
        form = {"grant_type": "refresh_token", "refresh_token": self._refresh_token}
        identity = {"client_id": self._provider.client_id, "client_secret": self._provider.client_secret}
        try:
            connector = aiohttp.TCPConnector(ssl=self._trust())
            async with aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT) as session:
                endpoint = await self._endpoint(session)
                # providers differ in where they take the client's secret: the standard's first choice, then the other
                header = _basic(**identity)
                status, body = await self._exchange(session, endpoint, form, {"Authorization": header})
                if status in _NOT_UNDERSTOOD and b"invalid_grant" not in body:
                    status, body = await self._exchange(session, endpoint, {**form, **identity}, {})
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(f"can't be reached: {str(error) or type(error).__name__}") from error
        tokens = self._answer(status, body, _Tokens)
        if not tokens.id_token:
            raise self._failure("has refreshed without an id_token: the scope openid was not asked for at login")
        self._id_token = tokens.id_token
        self._refresh_token = tokens.refresh_token or self._refresh_token
        self._save()

    async def _endpoint(self, session: aiohttp.ClientSession) -> str:
        url = f"{self._provider.issuer}/.well-known/openid-configuration"
        async with session.get(url, proxy=_proxy(url)) as answer:
            return self._answer(answer.status, await answer.read(), _Metadata).token_endpoint

    async def _exchange(
        self, session: aiohttp.ClientSession, url: str, form: dict[str, str], headers: dict[str, str]
    ) -> tuple[int, bytes]:
        async with session.post(url, data=form, headers=headers, proxy=_proxy(url)) as answer:
            return answer.status, await answer.read()

    def _answer(self, status: int, body: bytes, type_: type[_T]) -> _T:
        try:
            if status == 200:  # noqa: PLR2004
                return msgspec.json.decode(body, type=type_)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        raise self._failure(f"answered {status}: {body[:_TEXT_MAX].decode(errors='replace').strip()!r}")

    def _trust(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cadata=self._provider.ca.decode("ascii") or None)
        except (ssl.SSLError, ValueError) as error:
            raise self._failure("has a malformed idp-certificate-authority") from error
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # as to the API server: see http.py
        return context

    def _save(self) -> None:
        provider = self._provider
        if provider.kubeconfig is None:
            return
        tokens = {"id-token": self._id_token, "refresh-token": self._refresh_token}
        try:
            save_auth_provider(provider.kubeconfig, provider.user, tokens)
        except (OSError, KubeconfigError) as error:
            # the new tokens serve this process; the next one may have to log in
            log.warning("the new tokens of %s can't be kept in %s: %s", provider.issuer, provider.kubeconfig, error)

    def _failure(self, complaint: str) -> KubeconfigError:
        return KubeconfigError(f"the OIDC provider {self._provider.issuer} {complaint}", hint=_HINT)


def _basic(client_id: str, client_secret: str) -> str:
    pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"  # RFC 6749 §2.3.1
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _proxy(url: str) -> str | None:
    return proxy_from_environment(url, os.environ) or None
