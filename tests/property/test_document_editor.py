"""Edits of generated texts."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.document.editor import append_unique, get_value, remove_key, set_value

names = st.text("abcd", min_size=1, max_size=4)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.text("ab :#-'\"\n=0é", max_size=8))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
mappings = st.dictionaries(names, values, min_size=1, max_size=4)
flows = st.sampled_from([None, False, True])


def _paths(data: Any, prefix: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path for key, value in entries for path in [(*prefix, key), *_paths(value, (*prefix, key))]]


def _commented(text: str) -> str:
    """Put a comment line before each line that begins a top-level entry, and one at the end."""
    lines = text.splitlines(keepends=True)
    return "".join(f"# note {n}\n{line}" if line[:1].isalpha() else line for n, line in enumerate(lines)) + "# end\n"


def _at(data: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def _comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(("# note", "# end"))]


@given(mappings, flows, st.data())
def test_set_says_the_value_and_keeps_all_else(data: dict[str, Any], flow: bool | None, draw: st.DataObject) -> None:
    """The edited text is the old data with one other value, and every comment."""
    text = _commented(yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True))
    path = draw.draw(st.sampled_from(_paths(data)))
    value = draw.draw(values)
    wanted = deepcopy(data)
    _at(wanted, path[:-1])[path[-1]] = value
    edited = set_value(text, path, value)
    assert get_value(edited, ()) == wanted
    assert _comments(edited) == _comments(text)


@given(mappings, flows, st.data())
def test_remove_takes_one_entry(data: dict[str, Any], flow: bool | None, draw: st.DataObject) -> None:
    """The edited text is the old data less one entry, and every comment."""
    text = _commented(yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True))
    path = draw.draw(st.sampled_from(_paths(data)))
    wanted = deepcopy(data)
    del _at(wanted, path[:-1])[path[-1]]
    edited = remove_key(text, path)
    assert get_value(edited, ()) == wanted
    assert _comments(edited) == _comments(text)


@given(mappings, flows, st.data())
def test_append_adds_one_item(data: dict[str, Any], flow: bool | None, draw: st.DataObject) -> None:
    """A list in any style gets the item, once."""
    data["list"] = draw.draw(st.lists(values, max_size=3))
    text = _commented(yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True))
    value = draw.draw(values)
    edited = append_unique(text, ("list",), value)
    expected = data["list"] if value in data["list"] else [*data["list"], value]
    assert get_value(edited, ("list",)) == expected
    assert append_unique(edited, ("list",), value) == edited
    assert _comments(edited) == _comments(text)
