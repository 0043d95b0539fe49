"""JSON paths of columns: what client-go's parser refuses, and what it could never find."""

from __future__ import annotations

import pytest

from pyopscaffold.kube.jsonpath import BadPath, check


@pytest.mark.parametrize(
    "path",
    [
        ".spec.replicas",
        ".",
        ".status.conditions[?(@.type=='Ready')].status",
        '.status.conditions[?(@.type=="a)b]")].status',
        ".status.conditions[?(@.x>=-1.5)].y",
        ".status.conditions[?(@.done)].y",
        ".status.conditions[?(@.done==true)].y",
        ".metadata.annotations['a']",
        r".metadata.annotations.example\.com/name",
        ".items[*].name",
        ".items[-1:]",
        ".items[0,2]",
        ".a['b', 'c']",
        "..name",
        ".a..b",
        "..[0]",
    ],
)
def test_readable(path: str) -> None:
    """What the API server can read is taken."""
    check(path)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".spec[", "a [ is not closed; write ] behind it"),
        ('.metadata.labels["a"]', """["a"] is no index; write [0] or [*] for items, ['a'] for a field"""),
        (".items[a]", "[a] is no index; write [0] or [*] for items, ['a'] for a field"),
        (".items[0,x]", "[x] is no index"),
        (".a[?(@.b", "a [?( is not closed; write )] behind it"),
        (".a[?(@.b)", "a [?( is not closed; write ] behind its )"),
        (".a[?(@.type==Ready)].b", "Ready stands alone in it; write .Ready for a field, 'Ready' for a text"),
        (".a[?(@.type='Ready')].b", "= compares nothing; write one of ==, !=, <=, >=, <, >"),
        (".a[?(@.b==1.2.3)]", "1.2.3 is no number"),
        (".a b", "b stands alone in it"),
        (".a....b", "it has .. twice; write one"),
        (".a}", "'}' can't stand where it does"),
        (".a 'b", "a text is not closed; write ' behind it"),
        (r".a[?(@.b=='\d')]", "or an escape that Go does not know"),
        (".a[?(@.b=='\n')]", "a [?( is not closed"),
    ],
)
def test_unreadable(path: str, message: str) -> None:
    """What it can't read, or find nothing by, is told with the way out."""
    with pytest.raises(BadPath) as caught:
        check(path)
    assert message in str(caught.value)
