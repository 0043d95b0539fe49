"""The values of number and string tokens (cel-go's parser/unescape.go)."""

from __future__ import annotations

import math
import re
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE: Final = re.compile(r"\\(?:[xX](..)|u(.{4})|U(.{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
_SIMPLE: Final = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_SURROGATES: Final = range(0xD800, 0xE000)
_MOST_DIGITS: Final = 25
"""More than any integer of 64 bits has; Python refuses to read several thousands."""


def read_int(text: str) -> int:
    """Return the value of an integer literal with its sign.

    Raises:
        ValueError: it does not fit into 64 bits.

    """
    return _integer(text, text, range(-(2**63), 2**63))


def read_uint(text: str) -> int:
    """Return the value of an unsigned integer literal, with its ``u``.

    Raises:
        ValueError: it does not fit into 64 bits.

    """
    return _integer(text, text[:-1], range(2**64))


def _integer(text: str, number: str, fitting: range) -> int:
    digits = number.removeprefix("-")
    base = 16 if digits.startswith("0x") else 10
    digits = digits.removeprefix("0x").lstrip("0")[:_MOST_DIGITS] or "0"
    value = int(digits, base) * (-1 if number.startswith("-") else 1)
    if value not in fitting:
        raise ValueError(f"{text} does not fit into 64 bits")
    return value


def read_double(text: str) -> float:
    """Return the value of a floating-point literal.

    Raises:
        ValueError: it is too large.

    """
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large for a double")
    return value


def read_string(text: str) -> str:
    """Return the value of a string literal, quotes and prefix included.

    Raises:
        ValueError: an escape names no character.

    """
    raw, body = _body(text)
    return body if raw else _ESCAPE.sub(_character, body)


def read_bytes(text: str) -> bytes:
    r"""Return the value of a bytes literal; ``\xNN`` and octal escapes are bytes, other characters are UTF-8.

    Raises:
        ValueError: it has a Unicode escape.

    """
    raw, body = _body(text[1:])
    if raw:
        return body.encode()
    return b"".join(_pieces(body))


def _pieces(body: str) -> Iterator[bytes]:
    end = 0
    for found in _ESCAPE.finditer(body):
        yield body[end : found.start()].encode()
        end = found.end()
        if found[2] or found[3]:
            raise ValueError(rf"{found[0]} names a character, where bytes are written: write \xNN")
        code = _code(found)
        yield _SIMPLE.get(found[5], found[5]).encode() if code is None else bytes([code])
    yield body[end:].encode()


def _character(found: re.Match[str]) -> str:
    code = _code(found)
    if code is None:
        return _SIMPLE.get(found[5], found[5])
    if code > sys.maxunicode or code in _SURROGATES:
        raise ValueError(f"{found[0]} is no character of Unicode")
    return chr(code)


def _code(found: re.Match[str]) -> int | None:
    if digits := found[1] or found[2] or found[3]:
        return int(digits, 16)
    return int(found[4], 8) if found[4] else None


def _body(text: str) -> tuple[bool, str]:
    """Return whether a string is raw, and what stands between the quotes."""
    raw = text[0] in "rR"
    text = text[raw:].replace("\r\n", "\n").replace("\r", "\n")
    quotes = 3 if len(text) >= len("''''''") and text[:3] in ('"""', "'''") else 1
    return raw, text[quotes:-quotes]
