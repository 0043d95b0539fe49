"""Quantities in Kubernetes text form."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pyopscaffold.kube.quantity import compare, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", "0"),
        ("1", "1"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-1k", "-1000"),
        ("+1", "1"),
        ("500m", "0.5"),
        ("1u", "0.000001"),
        ("1n", "0.000000001"),
        ("1M", "1000000"),
        ("1G", "1000000000"),
        ("1T", "1000000000000"),
        ("1P", "1000000000000000"),
        ("1E", "1000000000000000000"),
        ("1Ki", "1024"),
        ("1Mi", "1048576"),
        ("1.5Gi", "1610612736"),
        ("1Ti", "1099511627776"),
        ("1Pi", "1125899906842624"),
        ("1Ei", "1152921504606846976"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("12e-1", "1.2"),
        ("1E+2", "100"),
    ],
)
def test_parse(text: str, expected: str) -> None:
    """Every suffix and both exponent forms are read exactly."""
    assert parse(text) == Decimal(expected)


@pytest.mark.parametrize("text", ["", "Gi", "1 Gi", "1gi", "1K", "1ki", "1e", "1e1.5", "1Gi1", "0x1", "1,5", "--1"])
def test_parse_refuses(text: str) -> None:
    """Whatever the API server refuses is refused, with an example of what is right."""
    with pytest.raises(ValueError, match="is no quantity; write it like"):
        parse(text)


def test_exponent_has_a_limit() -> None:
    """An exponent beyond 32 bits is refused before it costs time."""
    with pytest.raises(ValueError, match="32 bits"):
        parse("1e99999999999")


@pytest.mark.parametrize(("left", "right", "expected"), [("1Gi", "1024Mi", 0), ("1G", "1Gi", -1), ("1", "999m", 1)])
def test_compare(left: str, right: str, expected: int) -> None:
    """Quantities compare by value, not by text."""
    assert compare(left, right) == expected
