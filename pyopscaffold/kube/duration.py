"""Durations in the text form of Go's time.Duration, which Kubernetes uses: ``5m0s``, ``1h30m``, ``500ms``.

Grammar and output: https://pkg.go.dev/time#ParseDuration and https://pkg.go.dev/time#Duration.String.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

_MICROSECONDS = {
    "ns": Decimal("0.001"),
    "us": Decimal(1),
    "µs": Decimal(1),  # U+00B5, the micro sign
    "μs": Decimal(1),
    "ms": Decimal(1000),
    "s": Decimal(1_000_000),
    "m": Decimal(60_000_000),
    "h": Decimal(3_600_000_000),
}
_TERM = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_LIMIT = 2**63 // 1000  # microseconds; Go counts nanoseconds in 64 bits
_SECOND = 1_000_000
_MILLISECOND = 1_000


def parse(text: str) -> timedelta:
    """Read a duration; what is finer than a microsecond is rounded.

    Raises:
        ValueError: text is no Go duration, or exceeds Go's range of 292 years.

    """
    sign, unsigned = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if unsigned == "0":
        return timedelta()
    total, position = Decimal(0), 0
    while term := _TERM.match(unsigned, position):
        total += Decimal(term[1]) * _MICROSECONDS[term[2]]
        position = term.end()
    if not unsigned or position != len(unsigned):
        raise ValueError(f"{text!r} is no duration; write it like 1h30m, 5m0s or 500ms")
    if total > _LIMIT:
        raise ValueError(f"the duration {text!r} exceeds 292 years")
    return sign * timedelta(microseconds=round(total))


def format_duration(value: timedelta) -> str:
    """Write a duration as Go does: ``5m0s``, ``1h30m0s``, ``1.5s``, ``500ms``, ``0s``.

    Raises:
        ValueError: the value exceeds Go's range of 292 years.

    """
    total = value // timedelta(microseconds=1)
    if abs(total) > _LIMIT:
        raise ValueError(f"the duration {value} exceeds 292 years")
    sign, total = ("-", -total) if total < 0 else ("", total)
    if total == 0:
        return "0s"
    if total < _MILLISECOND:
        return f"{sign}{total}µs"
    if total < _SECOND:
        return f"{sign}{_decimal(total, _MILLISECOND)}ms"
    minutes, rest = divmod(total, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, _SECOND)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(count: int, unit: int) -> str:
    whole, rest = divmod(count, unit)
    digits = str(rest).zfill(len(str(unit)) - 1).rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
