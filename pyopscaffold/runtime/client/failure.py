"""Why there was no answer, in a few words: HTTP libraries say it in many, and in as many ways."""

from __future__ import annotations

import errno
import os
import socket
import ssl


def reason_of(error: Exception, *, proxy: str = "") -> str:
    """Return what kept a request from being answered; ``proxy`` is the URL that it went through."""
    import aiohttp  # noqa: PLC0415 - only its users come here

    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy {_public(proxy)} answered {error.status} {error.message}"
    if isinstance(error, aiohttp.ClientResponseError):
        return "the answer is not HTTP"
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    reason = text_of(cause)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"no connection to the proxy {_public(proxy)}: {reason}"
    return reason


def text_of(cause: Exception) -> str:
    """Return what the operating system or TLS says, without numbers."""
    match cause:
        case ssl.SSLCertVerificationError():
            return f"certificate verify failed: {cause.verify_message}"
        case socket.gaierror():
            return cause.strerror or "no such host"
        case ssl.SSLError():
            return str(cause)
        case OSError(errno=int(number)) if number in errno.errorcode:
            return os.strerror(number)
    return str(cause) or type(cause).__name__


def _public(proxy: str) -> str:
    from yarl import URL  # noqa: PLC0415 - as above

    return str(URL(proxy).with_user(None))
