"""Read from the network, for the sources that are not Go."""

from __future__ import annotations

import hashlib
import http.client
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing.binaries.store import Report

_TEXT_SECONDS = 6.0
_READ_SECONDS = 30.0
_TEXT_BYTES = 8 << 20
_CHUNK = 1 << 20


class Unavailable(EnvtestError):  # noqa: N818 - a state, which another source may mend
    """It can't be had here: no network, or none of this version and platform."""


def text(url: str, *, seconds: float = _TEXT_SECONDS) -> bytes:
    """Read a small file in a thread that is given up after ``seconds``: a resolver alone can hang for longer.

    Raises:
        Unavailable: there is no answer in time, or it is an HTTP error.

    """
    answer: list[bytes | Exception] = []

    def fetch() -> None:
        try:
            with urllib.request.urlopen(url, timeout=seconds) as response:  # noqa: S310 - the user's own choice
                answer.append(response.read(_TEXT_BYTES))
        except (OSError, http.client.HTTPException, ValueError) as error:
            answer.append(error)

    thread = threading.Thread(target=fetch, daemon=True, name="envtest-fetch")
    thread.start()
    thread.join(seconds)
    match answer:
        case [bytes() as body]:
            return body
        case [Exception() as error]:
            raise Unavailable(f"out of reach: {url}: {_why(error)}") from error
        case _:
            raise Unavailable(f"out of reach: {url}: no answer in {seconds:.0f} s")


def stream(url: str, file: Path, report: Report, *, algorithm: str) -> str:
    """Write what ``url`` serves to ``file`` and give its digest in hexadecimal.

    Raises:
        Unavailable: there is no answer, or it is an HTTP error.
        EnvtestError: the answer broke off.

    """
    digest = hashlib.new(algorithm)
    try:
        response = urllib.request.urlopen(url, timeout=_READ_SECONDS)  # noqa: S310 - named by the index
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"{url}: {_why(error)}") from error
    said = time.monotonic()
    with response, file.open("wb") as sink:
        total = int(response.headers.get("Content-Length") or 0)
        try:
            while chunk := response.read(_CHUNK):
                sink.write(chunk)
                digest.update(chunk)
                if time.monotonic() - said > 1:
                    said = time.monotonic()
                    report(f"  {sink.tell() >> 20} of {total >> 20} MiB")
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            raise EnvtestError(f"the download of {url} broke off: {_why(error)}", hint="try again") from error
        if sink.tell() < total:
            raise EnvtestError(f"the download of {url} broke off at {sink.tell()} of {total} bytes", hint="try again")
    return digest.hexdigest()


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, OSError):
        return reason.strerror or str(reason)
    return str(reason) or type(error).__name__
