"""The linter on files that are no manifests, or strange ones, beside a good one."""

from __future__ import annotations

import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import json as json_report
from pyopscaffold.lint.report import text as text_report
from pyopscaffold.loader.manifests import MAX_SIZE, load_sources

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.lint.finding import Report

RULES = builtin()
GOOD = crd("spec: {type: object}")
HEAD, _, TAIL = GOOD.partition("          spec:")
SECONDS = 60  # what takes two on a quiet machine
ODD = ["anyOf:", "allOf:", "not:", "items:", "[", "]", "{", "}", ",", "&a", "*a", "<<:", "|", ">", "-", "?", "!", "#"]
ODD += [
    "\n",
    "\n" + " " * 10,
    "\n" + " " * 12,
    "---\n",
    "{{ }}",
    "1e999",
    "'",
    '"',
    "\x00",
    "\x85",
    "\u2028",
    "=",
    "0o7",
]
ODD += ["~", "\t", "\r\n", "# lint-crd: ignore[VA01] why\n", "# lint-crd: ignore\n"]
words = st.sampled_from([*GOOD.split(), *ODD])


def checked(folder: Path, content: bytes, name: str = "odd.yaml") -> Report:
    """Lint a folder with a good file and an odd one, which must not keep the good one from being checked."""
    (folder / "good.yaml").write_text(GOOD)
    (folder / name).write_bytes(content)
    report = lint(load_sources([str(folder)]), RULES)
    assert report.files == 2
    assert report.crds >= 1
    assert report.failures == ()
    for finding in report.findings:
        assert finding.line >= 1
        assert finding.column >= 1
    text_report.render(report).encode()
    json_report.render(report).encode()
    return report


def told(report: Report) -> list[tuple[str, int, str]]:
    """Return rule, line and message of what is found in the odd file."""
    return [(it.rule, it.line, it.message) for it in report.findings if "good.yaml" not in it.file]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(lambda odd: HEAD.encode() + odd + TAIL.encode())))
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe\x00")
@example(b"\x00" * 100)
def test_any_bytes_are_answered(tmp_path: Path, content: bytes) -> None:
    """Whatever the bytes, the run goes on, and nothing that a rule does breaks down."""
    checked(tmp_path, content)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(words, max_size=30), st.integers(0, len(GOOD)), st.booleans())
def test_any_words_are_answered(tmp_path: Path, odd: list[str], place: int, whole: bool) -> None:
    """YAML made of a CRD's own words, alone or in the midst of a CRD."""
    text = " ".join(odd)
    checked(tmp_path, (text if whole else GOOD[:place] + text + GOOD[place:]).encode())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a: 1\nb: \xe9\n", [("ST01", 2, "not UTF-8 text: save it as UTF-8")]),
        ("\ufeff".encode() + b"a: \xe9", [("ST01", 1, "not UTF-8 text: save it as UTF-8")]),
        (GOOD.encode("utf-16"), [("ST01", 1, "UTF-16 text: save it as UTF-8")]),
        (GOOD.encode("utf-16-le"), [("ST01", 1, "UTF-16 text: save it as UTF-8")]),
        (b"\x7fELF\x02\x01\x01\x00\x00\xff", [("ST01", 1, "binary data: no manifest is")]),
        (b"\x00\x01", [("ST01", 1, "binary data: no manifest is")]),
        (b"a: 1\nb: \x01", [("ST01", 2, "control characters are not allowed")]),
        (b"", []),
        (b"\n\n# nothing\n", []),
        (GOOD.replace("\n", "\r\n").encode(), []),
        ("\ufeff".encode() + GOOD.encode(), []),
        (b"a:\n\t- b\n", [("ST01", 2, "found character that cannot start any token")]),
    ],
    ids=[
        "latin-1",
        "mark-latin-1",
        "utf-16",
        "utf-16-no-mark",
        "binary",
        "zeros",
        "control",
        "empty",
        "comment",
        "crlf",
        "mark",
        "tab",
    ],
)
def test_what_is_no_text_is_one_finding(tmp_path: Path, content: bytes, expected: list[tuple[str, int, str]]) -> None:
    """It says at which line, and does not stop the others; line ends and byte order marks are no fault."""
    report = checked(tmp_path, content)
    assert [finding for finding in told(report) if finding[0] == "ST01"] == expected


def test_what_can_not_be_read_is_never_passed_over(tmp_path: Path) -> None:
    """Where the rule about reading is off, the file is listed as not checked."""
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "odd.yaml").write_bytes(b"\xff")
    report = lint(load_sources([str(tmp_path)]), RULES.choose(select=["VA"]))
    assert [(part.file.rpartition("/")[2], part.reason) for part in report.skipped] == [("odd.yaml", "not readable")]


def test_a_file_can_be_too_large(tmp_path: Path) -> None:
    """No more of it is read than a manifest can have."""
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(MAX_SIZE * 100)  # takes no room on the disk
    tracemalloc.start()
    report = lint(load_sources([str(tmp_path)]), RULES)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told(report) == [("ST01", 1, "larger than 32 MB: no manifest is")]
    assert peak < 3 * MAX_SIZE


TEN = "{b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1}"


def deep(levels: int) -> str:
    """Make a CRD whose schema has objects within objects, in flow style, whose depth is the text's alone."""
    inner = "{type: string}"
    for _ in range(levels):
        inner = f"{{type: object, properties: {{a: {inner}}}}}"
    return spec(f"a: {inner}")


def chained(levels: int, *, start: str = "&a0 {type: string}") -> str:
    """Make a CRD of anchors, each of which is ten of the one before."""
    lines = [f"a0: {start}"]
    for level in range(1, levels + 1):
        ten = ", ".join(f"p{n}: *a{level - 1}" for n in range(10))
        lines.append(f"a{level}: &a{level} {{type: object, properties: {{{ten}}}}}")
    return spec("\n".join(lines))


def many(size: int) -> str:
    """Make a CRD with so many fields that it has that many bytes."""
    field = "f{:06}: {{type: object, properties: {{name: {{type: string, description: {}}}, kind: {{type: integer}}}}}}"
    return spec("\n".join(field.format(n, "word " * 400) for n in range(size // 2100)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (deep(90), ""),
        (deep(200), "nest"),
        ("[" * 100_000, "nest"),
        ("- " * 100_000, "nest"),
        ("a: " + "{b: " * 100_000, "nest"),
        (chained(3), ""),
        (chained(9), "aliases expand to too many values"),
        ("a: &a [*a]\n", "the anchor 'a' contains itself"),
        (f"a: &a {TEN}\n" + "".join(f"c{n}: {{<<: *a}}\n" for n in range(20_000)), "aliases expand to too many values"),
        ('"' + "a" * 5_000_000, "found unexpected end of stream"),
        ("a" * 5_000_000, ""),
        ("# lint-crd: ignore[VA01] why\n" * 100_000, ""),
        ("---\n" * 20_000, ""),
        ("? " * 100_000, "a mapping key must be a scalar"),
    ],
    ids=[
        "deep",
        "too-deep",
        "lists",
        "items",
        "maps",
        "anchors",
        "bomb",
        "cycle",
        "merges",
        "quote",
        "word",
        "comments",
        "documents",
        "keys",
    ],
)
def test_depth_and_anchors_are_bounded(tmp_path: Path, text: str, problem: str) -> None:
    """What would take for ever, or all memory, is one finding soon."""
    start = time.monotonic()
    report = checked(tmp_path, text.encode())
    problems = [message for rule, _, message in told(report) if rule == "ST01"]
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)
    assert time.monotonic() - start < SECONDS


def test_five_megabytes_are_checked(tmp_path: Path) -> None:
    """A CRD three times as large as a server takes is checked by all rules, in bounded time and memory."""
    start = time.monotonic()
    report = checked(tmp_path, many(5_000_000).encode())
    assert report.crds == 2
    assert len({finding.field for finding in report.findings if finding.rule == "VA01"}) > 2_000
    assert time.monotonic() - start < 2 * SECONDS
