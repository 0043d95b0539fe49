"""Label selectors in text form."""

from __future__ import annotations

import pytest

from pyopscaffold.kube.selector import parse

_WEB = {"app": "web", "tier": "front", "example.com/owner": "me", "empty": ""}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", True),
        ("app=web", True),
        ("app == web", True),
        ("app=db", False),
        ("app!=db", True),
        ("app!=web", False),
        ("missing!=web", True),
        ("app in (db, web)", True),
        ("app in (db)", False),
        ("app notin (db,cache)", True),
        ("missing notin (a)", True),
        ("app notin (web)", False),
        ("app", True),
        ("missing", False),
        ("!missing", True),
        ("! app", False),
        ("app=web,tier=front", True),
        ("app=web , tier in (back)", False),
        ("example.com/owner=me", True),
        ("empty=", True),
        ("app=", False),
        ("in=a", False),
        ("inner", False),
    ],
)
def test_matches(text: str, *, selected: bool) -> None:
    """Each operator decides as the API server does."""
    assert parse(text).matches(_WEB) is selected


@pytest.mark.parametrize("text", ["=a", "a=b=c", "a in", "a in b", "a b", "a,", ",a", "a in (x y)", "!", "-a"])
def test_refuses(text: str) -> None:
    """Text that is no selector is refused, and quoted."""
    with pytest.raises(ValueError, match="is no label selector"):
        parse(text)
