"""URLs are read as Go does."""

from __future__ import annotations

from pyopscaffold.kube.urls import parse_url


def test_letters_of_other_scripts() -> None:
    """A host may have letters beyond ASCII, and a long one with a wrong character takes no time to be refused."""
    host = "é" * 100
    parts = parse_url(f"https://{host}/a")
    assert parts is not None
    assert parts.netloc == host
    assert parse_url(f"https://{host}|/a") is None
