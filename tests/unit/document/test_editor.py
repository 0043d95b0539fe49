from __future__ import annotations

from textwrap import dedent

import pytest

from pyopscaffold.document.editor import append_unique, get_value, remove_key, remove_value, set_value
from pyopscaffold.errors import DocumentError

KUSTOMIZATION = dedent("""\
    # What is deployed.
    resources:
    - bases/a.yaml   # the first
    # +kubebuilder:scaffold:crdkustomizeresource

    patches:
    # [WEBHOOK] To enable webhooks, uncomment
    #- path: patches/webhook.yaml
    # +kubebuilder:scaffold:crdkustomizewebhookpatch
    """)

MIXED = dedent("""\
    domain:   "example.com"     # odd spacing
    deep:
        - 'a'
        - b
    flat:
    - x
    flow: { a: 1,  b: [p, q] }
    text: |
      line

    # the end
    """)


def test_append_keeps_the_comments_that_follow_the_last_item_behind_it() -> None:
    """A scaffold marker stays the last line of its list."""
    edited = append_unique(KUSTOMIZATION, ("resources",), "bases/b.yaml")
    assert edited == KUSTOMIZATION.replace("the first\n", "the first\n- bases/b.yaml\n")


def test_append_of_a_present_value_changes_nothing() -> None:
    """Appending twice is appending once."""
    once = append_unique(KUSTOMIZATION, ("resources",), "bases/b.yaml")
    assert append_unique(once, ("resources",), "bases/b.yaml") == once


def test_append_to_a_null_list_begins_it_before_the_comments() -> None:
    """A key without a value gets its list right below it."""
    edited = append_unique(KUSTOMIZATION, ("patches",), {"path": "p.yaml", "target": {"kind": "Deployment"}})
    item = "patches:\n- path: p.yaml\n  target:\n    kind: Deployment\n"
    assert edited == KUSTOMIZATION.replace("patches:\n", item)


def test_removing_what_was_appended_gives_the_text_back() -> None:
    """An edit and its inverse leave no trace."""
    edited = append_unique(KUSTOMIZATION, ("resources",), "bases/b.yaml")
    assert remove_value(edited, ("resources",), "bases/b.yaml") == KUSTOMIZATION


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("domain",), "other.org", '"example.com"', '"other.org"'),
        (("flow", "a"), 7, "a: 1", "a: 7"),
        (("flow", "b", 1), "r", "q]", "r]"),
        (("flow", "a"), "x, y", "a: 1", "a: 'x, y'"),
        (("flow", "b", 1), "x\ny", "q]", '"x\\ny"]'),
        (("deep", 0), "z", "'a'", "'z'"),
        (("flat", 0), {"k": "v"}, "- x\n", "-\n  k: v\n"),
        (("text",), "one\ntwo\n", "|\n  line\n", "|\n  one\n  two\n"),
        (("deep",), [], "deep:\n    - 'a'\n    - b\n", "deep: []\n"),
        (("flat",), "on", "flat:\n- x\n", "flat: 'on'\n"),
        (("new", "deeper"), True, "  line\n", "  line\nnew:\n  deeper: true\n"),
        (("flow", "c"), "=", "q] }", "q], c: '=' }"),
    ],
)
def test_set_touches_only_the_value(path: tuple[str | int, ...], value: object, old: str, new: str) -> None:
    """Every other byte stays: spacing, quotes, comments, two indentations in one file."""
    assert set_value(MIXED, path, value) == MIXED.replace(old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("domain",), 'domain:   "example.com"     # odd spacing\n', ""),
        (("deep", 1), "    - b\n", ""),
        (("deep", 0), "    - 'a'\n", ""),
        (("flat", 0), "flat:\n- x\n", "flat: []\n"),
        (("flow", "a"), "a: 1,  b", "b"),
        (("flow", "b"), ",  b: [p, q]", ""),
        (("flow", "b", 0), "p, q", "q"),
        (("text",), "text: |\n  line\n", ""),
        (("absent",), "", ""),
    ],
)
def test_remove_takes_the_entry_and_its_line(path: tuple[str | int, ...], old: str, new: str) -> None:
    """An entry goes with its own comment; a container that becomes empty says so."""
    assert remove_key(MIXED, path) == (MIXED.replace(old, new) if old else MIXED)


def test_first_key_of_a_list_item_leaves_the_dash() -> None:
    """``- a: 1`` is followed by ``b`` on the dash's line."""
    assert remove_key("x:\n- a: 1\n  b: 2\n", ("x", 0, "a")) == "x:\n- b: 2\n"


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "# no line break", "---\n", "{}\n"])
def test_empty_texts_can_be_added_to(text: str) -> None:
    """There need not be a mapping yet; comments stay."""
    edited = append_unique(text, ("resources",), "a.yaml")
    assert get_value(edited, ("resources",)) == ["a.yaml"]
    assert ("# only" in edited) == ("# only" in text)


@pytest.mark.parametrize("value", ["\n", "x\n\n", "\n\n", "x\n", "x\ny", " x\n"])
def test_line_breaks_at_the_end_count(value: str) -> None:
    """A text of several lines is the same, wherever it stands."""
    for text in ("a: 1\n", "a: 1\n# note\nb: 2\n", "a: 1\nb: 2"):
        for whole in (value, [value], {"b": value}):
            assert get_value(set_value(text, ("a",), whole), ("a",)) == whole


def test_a_text_without_a_last_line_break_can_be_added_to() -> None:
    """The last line need not end."""
    assert append_unique("a:\n- b", ("a",), "c") == "a:\n- b\n- c"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("\ufeffa: [b]\n", "\ufeffa: [b, c]\n"),
        ("a:\t[b]\n", "a:\t[b, c]\n"),
        ("é: 😀\na: [b]\n", "é: 😀\na: [b, c]\n"),
    ],
    ids=["byte order mark", "tab", "beyond ASCII"],
)
def test_what_parsers_count_otherwise_can_be_edited(text: str, edited: str) -> None:
    """Offsets are those of the text, though libyaml leaves a byte order mark out."""
    assert append_unique(text, ("a",), "c") == edited


@pytest.mark.parametrize(
    "word", ["on", "y", "0o10", "08", "1e3", "2020-01-01", "=", "null", "", " x", "a: b", "# c", "é", "\u2028x"]
)
def test_strings_stay_strings(word: str) -> None:
    """What Kubernetes or PyYAML would take for something else is quoted."""
    edited = append_unique(set_value("a: 1\n", ("s",), word), ("l",), word)
    assert get_value(edited, ("s",)) == word
    assert get_value(edited, ("l", 0)) == word


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("a: 1\nb: [\n", ("a",), "f.yaml:3: "),
        ("x: 1\na: 1\n", ("a",), "f.yaml:2: a is not a list"),
        ("x: 1\na: 1\n", ("a", "b"), "f.yaml:2: a is not a mapping"),
        ("x:\n- 1\n", ("x", 3), "f.yaml:1: x is a list of 1, it has no item 3"),
        ("a: 1\n---\nb: 1\n", ("a",), "f.yaml:3: a second document begins"),
        ("a: 1\na: 2\n", ("a",), "f.yaml:2: duplicate key 'a'"),
        ("{{ if .x }}\na: 1\n", ("a",), "f.yaml:1: "),
        ("a: &x [1]\nb: *x\n", ("b",), "f.yaml:1: the text can't be edited in place"),
    ],
)
def test_mistakes_name_the_line(text: str, path: tuple[str | int, ...], message: str) -> None:
    """What can't be edited is refused, with the place."""
    with pytest.raises(DocumentError) as caught:
        append_unique(text, path, "c", file="f.yaml")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("a:\r\n- x # one\r\n", "a:\r\n- x # one\r\n- z\r\n"),
        ("a:\r\n- x", "a:\r\n- x\r\n- z"),
        ("b: 1\r\n", "b: 1\r\na:\r\n- z\r\n"),
        ("a:\r\n- x\nb: 1\n", "a:\r\n- x\n- z\nb: 1\n"),
    ],
)
def test_line_ends_stay(text: str, edited: str) -> None:
    """A file from Windows keeps its line ends, and gets no others."""
    assert append_unique(text, ("a",), "z") == edited
