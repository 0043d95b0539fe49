"""Durations in Go's text form."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyopscaffold.kube.duration import format_duration, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta()),
        ("0s", timedelta()),
        ("5m0s", timedelta(minutes=5)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("500ms", timedelta(milliseconds=500)),
        ("1.5h", timedelta(hours=1.5)),
        (".5s", timedelta(seconds=0.5)),
        ("1.s", timedelta(seconds=1)),
        ("-1m", timedelta(minutes=-1)),
        ("+1m", timedelta(minutes=1)),
        ("3us", timedelta(microseconds=3)),
        ("3\N{MICRO SIGN}s", timedelta(microseconds=3)),
        ("3\N{GREEK SMALL LETTER MU}s", timedelta(microseconds=3)),
        ("1500ns", timedelta(microseconds=2)),
        ("1s1h", timedelta(hours=1, seconds=1)),
    ],
)
def test_parse(text: str, expected: timedelta) -> None:
    """Whatever Go reads is read, to the microsecond."""
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "5d", "1h-1m", "--1s", "PT5M", ".s", "1e3s", "+", "0x1s"])
def test_parse_refuses(text: str) -> None:
    """Whatever Go refuses is refused, with an example of what is right."""
    with pytest.raises(ValueError, match="write it like 1h30m"):
        parse(text)


def test_range() -> None:
    """Go's range ends at 292 years, in both directions."""
    with pytest.raises(ValueError, match="292 years"):
        parse("2562048h")
    with pytest.raises(ValueError, match="292 years"):
        format_duration(timedelta(days=300 * 366))
    assert parse("2562047h") == timedelta(hours=2562047)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (timedelta(), "0s"),
        (timedelta(minutes=5), "5m0s"),
        (timedelta(hours=1, minutes=30), "1h30m0s"),
        (timedelta(days=2), "48h0m0s"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(milliseconds=500), "500ms"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(microseconds=7), "7µs"),
        (timedelta(seconds=-90), "-1m30s"),
        (timedelta(minutes=1, microseconds=10), "1m0.00001s"),
    ],
)
def test_format(value: timedelta, expected: str) -> None:
    """The text is the one that Go's String gives."""
    assert format_duration(value) == expected
