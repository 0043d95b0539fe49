"""Why there was no answer, in a few words: HTTP libraries say it in many, and in as many ways."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import aiohttp
from yarl import URL


def reason_of(error: Exception, *, proxy: str = "") -> str:
    """Return what kept a request from being answered; ``proxy`` is the URL that it went through."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy {_public(proxy)} answered {error.status} {error.message}"
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    reason = _text_of(cause)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"no connection to the proxy {_public(proxy)}: {reason}"
    return reason


def _text_of(cause: Exception) -> str:
    match cause:
        case ssl.SSLCertVerificationError():
            return f"certificate verify failed: {cause.verify_message}"
        case socket.gaierror():
            return cause.strerror or "no such host"
        case ssl.SSLError():
            return str(cause)
        case OSError(errno=int(number)) if number in errno.errorcode:
            return os.strerror(number)
        case aiohttp.ClientResponseError():
            return "the answer is not HTTP"
    return str(cause) or type(cause).__name__


def _public(proxy: str) -> str:
    return str(URL(proxy).with_user(None))
