"""URLs as Go's net/url reads them, which is what the API server holds them to."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

_AUTHORITY = re.compile(
    r"""([^@]*@)?(\[[0-9a-f:.]+(%25[^\]]+)?\]|([-\w.~!$&'()*+,;=<>"]|%25|%[89a-f][0-9a-f]|[^\x00-\x7f])*)(:[0-9]*)?""",
    re.IGNORECASE | re.ASCII,
)
_CONTROL = re.compile(r"^ |[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-f]{2})", re.IGNORECASE)


def parse_url(text: str) -> SplitResult | None:
    """Split a URL, or give None where Go refuses it: for its host, its port, an escape or a control character."""
    if _CONTROL.search(text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    readable = _AUTHORITY.fullmatch(parts.netloc) and not _BAD_ESCAPE.search(parts.path + parts.fragment)
    return parts if readable else None
