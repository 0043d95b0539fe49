"""Manifests are written as PyYAML writes them."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from pyopscaffold.generate import manifest

_WORDS = [
    "a",
    "yes",
    "No",
    "null",
    "y",
    "0x1",
    "1e3",
    "1_000",
    "2024-01-01",
    "12:30",
    ".5",
    "~",
    "=",
    "<<",
    "- a",
    "a: b",
]
_WORDS += [
    "a #b",
    "a ",
    " a",
    "a:",
    "'a'",
    '"a"',
    "a\n",
    "\na",
    "a\nb",
    "a\n\n  b",
    "a \nb",
    "a\tb",
    "é",
    "\u2028",
    "x" * 200,
]
_WORDS += [
    "[a]",
    "{a}",
    "a, b",
    "don't",
    "*a",
    "&a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "a\n#b",
    "a\n- b",
    "a\n---\nb",
    "",
]
_texts = (
    st.sampled_from(_WORDS)
    | st.text(st.characters(codec="utf-8"), max_size=8)
    | st.text("ab \n:#-'“é\u200b\ufeff", max_size=8)
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=12,
)


def by_yaml(value: Any, *, sort_keys: bool) -> str:
    """Write as manifest does, by PyYAML alone."""
    return str(yaml.dump(value, Dumper=manifest._Dumper, sort_keys=sort_keys, allow_unicode=True, width=2**20))


@given(st.dictionaries(_texts, _values, max_size=4), st.booleans())
@example({"a": [[{"b": [1, []], "c": {}}], "x\ny"]}, True)
def test_as_pyyaml(value: dict[str, Any], sort_keys: bool) -> None:
    """Whatever a manifest holds, its text is PyYAML's to the letter."""
    assert manifest.dump(value, sort_keys=sort_keys) == by_yaml(value, sort_keys=sort_keys)
