from __future__ import annotations

from typing import Any

import pytest

from pyopscaffold.document.reader import Document, Position, Source, Unreadable, read, scan
from pyopscaffold.errors import DocumentError

both_parsers = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "python"])


def values(text: str, *, file: str = "x.yaml", pure: bool = False) -> list[Any]:
    """Give the data of readable documents, the problem of others."""
    return [part.data if isinstance(part, Document) else part.problem for part in scan(Source(file, text), pure=pure)]


def only(text: str, *, file: str = "x.yaml", pure: bool = False) -> Document | Unreadable:
    """Scan a text of one part."""
    (part,) = scan(Source(file, text), pure=pure)
    return part


@pytest.mark.parametrize(
    ("plain", "meant"),
    [
        ("=", "="),
        ("y", True),
        ("No", False),
        ("on", True),
        ("OFF", False),
        ("tRue", "tRue"),
        ("~", None),
        ("", None),
        ("2020-01-01", "2020-01-01"),
        ("12:30:45", "12:30:45"),
        ("0o10", 8),
        ("010", 8),
        ("08", 8.0),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("+1", 1),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("._5", "._5"),
        ("-", "-"),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        ("9" * 500, "9" * 500),
        ("1e400", "1e400"),
        ("v1", "v1"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_plain_scalars_mean_what_kubernetes_takes_them_for(plain: str, meant: object) -> None:
    """The words and numbers of sigs.k8s.io/yaml, which differ from PyYAML's."""
    got = values(f"k: [{plain}]" if plain != "-" else "k: ['-']")[0]["k"][0] if plain else values("k:")[0]["k"]
    assert got == meant
    assert type(got) is type(meant)


@pytest.mark.parametrize(
    ("scalar", "meant"), [("'1'", "1"), ('"on"', "on"), ("!!str 1", "1"), ("!!int '1'", 1), ("!x 1", "1")]
)
def test_quotes_and_tags_decide(scalar: str, meant: object) -> None:
    """A quoted scalar is a string; a tag says otherwise."""
    assert values(f"k: {scalar}") == [{"k": meant}]


def test_keys_are_strings() -> None:
    """As in the JSON that the API server gets."""
    assert values("on: 1\n2: 1\n1.5: 1\nx: 1") == [{"true": 1, "2": 1, "1.5": 1, "x": 1}]


@both_parsers
def test_aliases_and_merges_are_resolved(pure: bool) -> None:
    """Of merged mappings in a list the first wins, else what comes last, as in Go; a quoted << is an ordinary key."""
    text = "a: &a {x: 1, y_: 2}\nb: &b {y_: 3, z: 4}\nc: {<<: [*a, *b], x: 9}\nd: {x: 9, !!merge <<: *a}\n'<<': q"
    assert values(text, pure=pure) == [
        {
            "a": {"x": 1, "y_": 2},
            "b": {"y_": 3, "z": 4},
            "c": {"x": 9, "y_": 2, "z": 4},
            "d": {"x": 1, "y_": 2},
            "<<": "q",
        }
    ]


@both_parsers
def test_positions_are_those_of_keys_and_items(pure: bool) -> None:
    """A mapping's entry stands where its key does, a list's where its value does; a missing step stops the way."""
    document = only("a: 1\nb:\n  - x\n  - c: &c {d: 1}\n---\n" * 1 + "", pure=pure)
    assert isinstance(document, Document)
    assert document.position(()) == (1, 1)
    assert document.position(("b",)) == (2, 1)
    assert document.position(("b", 0)) == (3, 5)
    assert document.position(("b", 1, "c")) == (4, 5)
    assert document.position(("b", 1, "c", "d")) == (4, 12)
    assert document.position(("b", 1, "nothing", "here")) == (4, 5)


@both_parsers
def test_lines_are_those_of_editors(pure: bool) -> None:
    """YAML breaks a line at U+2028, and Python at a form feed; no editor does, and none tells of such lines."""
    text = "a: 'é\u2028x'\r\nb: 1 # \x85\rc: {d: 1, e: [}\n"
    broken = only(text, pure=pure)
    assert isinstance(broken, Unreadable)
    assert broken.position == (3, 15)
    document = only(text.replace("[", ""), pure=pure)
    assert isinstance(document, Document)
    assert [document.position(path) for path in (("b",), ("c", "e"))] == [(2, 1), (3, 11)]
    assert Source("x.py", "a\x0cb\u2028c\r\nd\re\n").lines == ("a\x0cb\u2028c", "d", "e")


@both_parsers
def test_characters_that_yaml_refuses_have_their_place(pure: bool) -> None:
    """Counted in characters, and from the first line of the file; a document after them has its own lines."""
    parts = scan(Source("x.yaml", "# ééé\na: é\x0c\n---\nb: 1\n"), pure=pure)
    assert [part.position(("b",)) if isinstance(part, Document) else part.position for part in parts] == [
        (2, 5),
        (4, 1),
    ]


@both_parsers
def test_a_byte_order_mark_may_begin_each_document(pure: bool) -> None:
    """Files that each have one may have been put together."""
    assert values("a: 1\n---\n\ufeffb: 2\nc: 3\n--- # three\n\ufeffd: 4\ne: 5\n", pure=pure) == [
        {"a": 1},
        {"b": 2, "c": 3},
        {"d": 4, "e": 5},
    ]


def test_columns_count_characters() -> None:
    """Not bytes, and not UTF-16 units."""
    document = only('{"é😀": 1, "b": 2}')
    assert isinstance(document, Document)
    assert document.position(("b",)) == (1, 11)


def test_duplicate_keys_are_reported_with_both_places() -> None:
    """The last one wins, as in Go."""
    document = only("a:\n  - b: 1\n    b: 2\n")
    assert isinstance(document, Document)
    assert document.data == {"a": [{"b": 2}]}
    (duplicate,) = document.duplicates
    assert (duplicate.path, duplicate.position, duplicate.first) == (("a", 0, "b"), Position(3, 5), Position(2, 5))


def test_json_may_hold_tabs_surrogates_and_several_values() -> None:
    """What JSON allows and libyaml refuses is read."""
    text = '{"a":\t"\\ud83d\\ude00\\/", "b": "\\ud83d"}\n[1.5, true, null]'
    assert values(text, file="x.json") == [{"a": "😀/", "b": "\ufffd"}, [1.5, True, None]]


def test_flow_yaml_that_is_no_json_is_yaml() -> None:
    """A brace at the start does not make it JSON."""
    assert values("{a: 1, b: [x]}") == [{"a": 1, "b": ["x"]}]


def test_broken_json_is_reported_as_json() -> None:
    """In a .json file the place is where JSON breaks."""
    part = only('{"a": 1,\n "b" 2}', file="x.json")
    assert isinstance(part, Unreadable)
    assert (part.problem, part.position) == ("expected : in JSON", (2, 6))


def test_a_broken_document_leaves_the_others_readable() -> None:
    """Documents are cut apart at their --- lines; places count from the file's first line."""
    parts = scan(Source("x.yaml", "a: 1\n--- # two\nb: [\n---\nc: 3\n"))
    assert [type(part) for part in parts] == [Document, Unreadable, Document]
    broken, last = parts[1], parts[2]
    assert isinstance(broken, Unreadable)
    assert broken.position.line in (3, 4)
    assert isinstance(last, Document)
    assert last.position(("c",)) == (5, 1)


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("{{- if .x }}\na: 1\n{{- end }}\n", True),
        ("a: {{ .x }}\n", True),
        ("a: [{{ .x }}]\n", True),
        ("a:\n- {{.x}}\n", True),
        ('a: "b-{{ default "x" .y }}"\n', True),
        ('a: "{{ .x }}": b\n', True),
        ("{{ include }}\n", True),
        ("a: such as `{{ .x }}`, or {{ .y }}\nb: [\n", False),
    ],
)
def test_templates_are_known_as_such(text: str, template: bool) -> None:
    """What can't be read for its {{ }} was never meant to be; a description that has some is no excuse."""
    part = only(text)
    assert isinstance(part, Unreadable)
    assert part.template is template


def test_braces_without_end() -> None:
    """A long line with as many braces as a template has takes no time to be known for none."""
    (part,) = scan(Source("c.yaml", "a: b: c\n# " + "x{{" * 1_000_000))
    assert isinstance(part, Unreadable)
    assert not part.template


@both_parsers
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x [*x]", "the anchor 'x' contains itself"),
        ("a: *x", "the anchor 'x' is not defined"),
        ("? [a]\n: 1", "a mapping key must be a scalar"),
        ("~: 1", "a mapping key must not be null"),
        ("a: {<<: 1}", "only mappings can be merged by <<"),
        ("a: .inf", "infinity and NaN have no JSON form"),
        ("a: [-.NaN, .nan]", "infinity and NaN have no JSON form"),
        ("- " * 300 + "a", "nested deeper than 250 levels"),
        ("[" * 300, "nested deeper than 250 levels"),
    ],
)
def test_what_has_no_json_form_is_refused(text: str, problem: str, pure: bool) -> None:
    """With a reason, whichever parser reads it."""
    assert values(text, pure=pure) == [problem]


def test_alias_bombs_are_refused() -> None:
    """Nine levels of nine aliases are nine lines of text and a billion values."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    assert values("\n".join(lines)) == ["aliases expand to too many values"]


def test_read_raises_for_the_first_fault() -> None:
    """With file and line, and what to do about templates."""
    with pytest.raises(DocumentError, match=r"^x\.yaml:2: duplicate key 'a'$"):
        read(Source("x.yaml", "a: 1\na: 2\n"))
    with pytest.raises(DocumentError, match=r"^x\.yaml:1: ") as caught:
        read(Source("x.yaml", "{{ .x }}\n"))
    assert caught.value.hint == "It looks like a template: render it first."


def test_empty_documents_are_left_out() -> None:
    """Comments and bare separators are no documents."""
    assert read(Source("x.yaml", "# a\n---\n---\n# b\n")) == ()
