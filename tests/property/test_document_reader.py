"""The reader on arbitrary text."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pyopscaffold.document.reader import Document, Source, read, scan
from pyopscaffold.errors import DocumentError

fragments = st.sampled_from(
    ["a", "b: ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", ",", ":", "&x ", "*x", "<<", "!!str ", "|", ">-",
     "#", "---\n", "...", "'", '"', "\\", "\\u0", "%YAML 1.1\n", "? ",
     "=", "{{", "}}", "\r", "\u2028", "\x00", "é", "\ufeff"]
)  # fmt: skip
texts = st.one_of(st.text(st.characters(codec=None)), st.lists(fragments).map("".join))
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False),
              st.text(st.characters(exclude_categories=["Cs"]))),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)),
    max_leaves=20,
)  # fmt: skip


@given(texts, st.sampled_from(["x.yaml", "x.json"]))
@example("\ud800", "x.yaml")
@example('"\\UFFFFFFFF"', "x.yaml")
@example("%YAML 9.9\n---\na", "x.yaml")
@example("! 1", "x.yaml")
def test_any_text_is_answered(text: str, file: str) -> None:
    """Whatever it is, it is read or refused by DocumentError, and every part has a place in the text."""
    source = Source(file, text)
    for part in scan(source):
        line, column = part.position() if isinstance(part, Document) else part.position
        assert line >= 1
        assert column >= 1
    with suppress(DocumentError):
        assert all(isinstance(document, Document) for document in read(source))


@given(texts)
def test_both_parsers_read_the_same(text: str) -> None:
    """What libyaml and PyYAML's own parser both take, they take for the same."""
    fast, slow = scan(Source("x.yaml", text)), scan(Source("x.yaml", text), pure=True)
    if all(isinstance(part, Document) for part in (*fast, *slow)):
        assert [repr(part.data) for part in fast if isinstance(part, Document)] == [
            repr(part.data) for part in slow if isinstance(part, Document)
        ]


@given(json_values, st.sampled_from([None, 2, "\t"]))
def test_json_is_read_as_json(value: Any, indent: int | str | None) -> None:
    """The standard library's JSON comes back, whatever its layout."""
    text = json.dumps([value], indent=indent)
    (document,) = read(Source("x.json", text))
    assert document.data == [value]


@given(st.dictionaries(st.text("abcd", min_size=1), st.lists(st.integers() | st.text("ab c:#'-")), min_size=1))
def test_positions_point_at_the_text(data: dict[str, Any]) -> None:
    """At the position of a key, the text has the key."""
    text = yaml.safe_dump(data)
    (document,) = read(Source("x.yaml", text))
    for key in data:
        line, column = document.position((key,))
        assert text.splitlines()[line - 1][column - 1 :].startswith((key, "'"))
