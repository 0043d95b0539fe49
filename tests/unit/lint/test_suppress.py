"""Comments and annotations that hide findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyopscaffold.document.reader import Source
from pyopscaffold.lint.config import Config
from pyopscaffold.lint.derived import Derived, Place
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.evolution import read_before
from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.ruleset import Ruleset
from pyopscaffold.lint.suppress import MOST, in_text

if TYPE_CHECKING:
    from collections.abc import Sequence

RULES = builtin().choose(select=["VA01", "LC", "CO01"])


def found(text: str) -> list[tuple[str, str]]:
    """Lint, and return the rule of each finding, with its field or else its message."""
    findings = lint([Source("x.yaml", text)], RULES).findings
    return [(finding.rule, finding.field or finding.message) for finding in findings if finding.rule != "CO01"]


def annotated(properties: str, annotations: str) -> str:
    """Make a CRD with annotations."""
    return spec(properties).replace("metadata:\n", f"metadata:\n  annotations:\n{annotations}", 1)


TWO = "name: {type: string}\nsize: {type: string}"
NAME, SIZE = ("VA01", ".spec.name"), ("VA01", ".spec.size")


@pytest.mark.parametrize(
    ("properties", "left"),
    [
        ("name: {type: string}  # lint-crd: ignore[VA01] free text\nsize: {type: string}", [SIZE]),
        ("# lint-crd: ignore[VA01] free text\nname: {type: string}\nsize: {type: string}", [SIZE]),
        ("# lint-crd: ignore[VA01] free text\n# and more\n\nname: {type: string}\nsize: {type: string}", [SIZE]),
        ("name:  # lint-crd: ignore[VA01]: free text\n  type: string\nsize: {type: string}", [SIZE]),
        (
            "name: {type: string} # lint-crd:ignore[ string-constraint , UX01 ] - free text\nsize: {type: string}",
            [SIZE],
        ),
        ("name: {type: string}  # generated; see # lint-crd: ignore[VA] free text\nsize: {type: string}", [SIZE]),
        ("name: {type: string}  # lint-crd: ignore[CO01] another rule\nsize: {type: string}", [NAME, SIZE]),
    ],
)
def test_a_comment_hides_its_own_block(properties: str, left: Sequence[tuple[str, str]]) -> None:
    """On the line or above it, for the key and what is below it; by id, prefix or name, no other rule's."""
    assert [finding for finding in found(spec(properties)) if finding[0] == "VA01"] == left


def test_a_comment_on_a_block_hides_all_that_is_in_it() -> None:
    """The block of a key ends where the indentation does, a list may be as far left as its key."""
    text = spec(TWO)
    assert found(text) == [NAME, SIZE]
    assert found(text.replace("spec:\n  group", "spec:  # lint-crd: ignore[VA01] all of it\n  group")) == []
    assert found(text.replace("  versions:\n", "  versions:  # lint-crd: ignore[VA01] all of them\n")) == []
    assert found(text.replace("  - name: v1\n", "  # lint-crd: ignore[VA01] the first\n  - name: v1\n")) == []
    assert found(text.replace("  names:\n", "  names:  # lint-crd: ignore[VA01] other keys\n")) == [
        ("LC01", "ignoring VA01 hides nothing here: remove it"),
        NAME,
        SIZE,
    ]


@pytest.mark.parametrize("line", ["# a comment", "{{- if .Values.old }}"])
def test_what_stands_at_the_margin_ends_no_block(line: str) -> None:
    """Comments, and directives of a template, are indented as their authors please, within a block and above it."""
    text = (
        f"a:  # lint-crd: ignore[VA01] why\n  b: 1\n{line}\n  c: 2\n# lint-crd: ignore[VA01] why\n{line}\nd:\n  e: 3\n"
    )
    assert [wish.lines for wish in in_text(Source("x.yaml", text))] == [range(1, 5), range(7, 9)]


def test_a_comment_may_stand_behind_what_has_several_lines() -> None:
    """Behind the bracket that closes a field, or a decorator; not hundreds of lines away, which would take time."""
    field = 'a: Annotated[\n    str, MaxLen(3)\n] = ""  # lint-crd: ignore[VA01] why\nb: int\n'
    decorator = '@resource(\n    group="a",\n)  # lint-crd: ignore[CO01] why\nclass A:\n    a: int\nb = 1\n'
    assert [wish.lines for wish in in_text(Source("x.py", field))] == [range(1, 3)]
    assert [wish.lines for wish in in_text(Source("x.py", decorator))] == [range(4, 6)]
    far = decorator.replace('"a"', '"a"' + "\n" * 300)
    assert [wish.lines for wish in in_text(Source("x.py", far))] == [range(302, 303)]


def test_a_comment_is_about_one_item_of_a_list() -> None:
    """The next item of the list is not hidden."""
    version = spec(TWO).partition("  versions:\n")[2]
    text = spec(TWO) + version.replace("name: v1\n", "name: v2\n").replace("storage: true", "storage: false")
    text = text.replace("  - name: v1\n", "  - name: v1  # lint-crd: ignore[VA01] the old one\n", 1)
    findings = lint([Source("x.yaml", text)], RULES).findings
    assert {finding.version for finding in findings if finding.rule == "VA01"} == {"v2"}


def test_without_a_reason_nothing_is_hidden() -> None:
    """The finding stays, and so it is said."""
    assert found(spec("name: {type: string}  # lint-crd: ignore[VA01]")) == [
        NAME,
        ("LC02", "ignoring VA01 has no effect without a reason: write it behind"),
    ]


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("ignore[VVA01] why", ("LC03", "no rule 'VVA01'; did you mean VA01?")),
        ("ignore[string-constrain] why", ("LC03", "no rule 'string-constrain'; did you mean string-constraint?")),
        ("ignore VA01 why", ("LC03", "not understood: write lint-crd: ignore[VA01] and the reason")),
        ("ignore[] why", ("LC03", "not understood: write lint-crd: ignore[VA01] and the reason")),
        ("disable[VA01] why", ("LC03", "not understood: write lint-crd: ignore[VA01] and the reason")),
    ],
)
def test_what_names_no_rule_is_told(comment: str, told: tuple[str, str]) -> None:
    """A misspelt suppression hides nothing, and does not stay unnoticed."""
    assert found(spec(f"name: {{type: string}}  # lint-crd: {comment}")) == [NAME, told]


def test_what_hides_nothing_is_told() -> None:
    """Each selector is judged by itself, at the place of the comment; those of rules that are off are not."""
    text = spec("# lint-crd: ignore[VA01,CO01,UX01] why\nname: {type: string}")
    (finding,) = [finding for finding in lint([Source("x.yaml", text)], RULES).findings if finding.rule == "LC01"]
    assert finding.message == "ignoring CO01 hides nothing here: remove it"
    assert text.splitlines()[finding.line - 1][finding.column - 1 :].startswith("# lint-crd")


def test_what_is_about_changes_is_unused_only_beside_what_was() -> None:
    """A run that knows nothing of before, as in an editor, can't tell."""
    text = spec("size: {type: integer}  # lint-crd: ignore[VE02] nobody has it yet")
    known = Config(select=("VE02", "LC"))
    source = Source("x.yaml", text)
    assert lint([source], Ruleset(builtin(), known)).findings == ()
    for old, left in ((text, ["LC01"]), (text.replace("integer", "string"), [])):
        report = lint([source], Ruleset(builtin(), known, before=read_before([Source("old.yaml", old)])))
        assert [finding.rule for finding in report.findings] == left


def test_a_comment_is_about_its_own_file() -> None:
    """Of what is made of several files, a finding in another one stays, at the same line too."""
    text, ours, theirs = spec(TWO), Source("a", "name: x  # lint-crd: ignore[VA01] why\n"), Source("b", "size: x\n")
    first = text.splitlines().index("              name: {type: string}") + 1
    made = Derived("made", text, places={first: Place(ours, 1), first + 1: Place(theirs, 1)})
    assert [(finding.file, finding.field) for finding in lint([made], RULES).findings if finding.rule == "VA01"] == [
        ("b", ".spec.size")
    ]


@pytest.mark.parametrize(
    ("annotation", "left"),
    [
        ("VA01: all of it is free text", []),
        ("string-constraint: all of it is free text", []),
        ("VA01: .spec.name free text", [SIZE]),
        ("VA01: '.spec.name: free text'", [SIZE]),
        ("VA01: .spec.name,.spec.size free text", []),
        ("VA01: .spec.** free text", []),
        ("VA01: |\n      .spec.name free text\n      .spec.size free text as well", []),
        ("VA01: ''", [("LC02", "ignoring VA01 has no effect without a reason: write it behind"), NAME, SIZE]),
        ("VA01: .spec.name", [("LC02", "ignoring VA01 has no effect without a reason: write it behind"), NAME, SIZE]),
        ("VA01: 1", [("LC02", "ignoring VA01 has no effect without a reason: write it behind"), NAME, SIZE]),
        ("VVA01: why", [("LC03", "no rule 'VVA01'; did you mean VA01?"), NAME, SIZE]),
        ("VA01: .spec.nam free text", [("LC01", "ignoring VA01 hides nothing here: remove it"), NAME, SIZE]),
    ],
)
def test_annotations_survive_generation(annotation: str, left: list[tuple[str, str]]) -> None:
    """They are about their manifest, or the fields that they name."""
    assert found(annotated(TWO, f"    lint-crd.pyopscaffold.dev/ignore-{annotation}\n")) == left


def test_an_annotation_is_about_its_own_manifest() -> None:
    """Another CRD of the same file is not exempt."""
    text = annotated(TWO, "    lint-crd.pyopscaffold.dev/ignore-VA01: why\n") + "---\n" + spec("name: {type: string}")
    assert found(text) == [NAME]


def test_json_is_suppressed_by_annotation_too() -> None:
    """JSON has no comments."""
    text = '{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a", "annotations": {'
    text += '"lint-crd.pyopscaffold.dev/ignore-SE01": "why"}}, "rules": [{"verbs": ["*"]}]}'
    rules = builtin().choose(select=["SE01", "LC"])
    assert lint([Source("x.json", text)], rules).findings == ()
    assert len(lint([Source("x.json", text.replace("SE01", "UX01"))], rules).findings) == 1


def test_a_crd_that_was_not_checked_has_no_unused_annotation() -> None:
    """What is skipped hides nothing, and is not judged."""
    text = annotated(TWO, "    lint-crd.pyopscaffold.dev/ignore-VA01: why\n").replace(
        "kind: Widget", 'kind: "{{ .a }}"'
    )
    assert found(text) == []


@pytest.mark.parametrize("broken", ["a: [\n", "{{- if .x }}\n"])
def test_what_was_not_read_has_no_unused_comment(broken: str) -> None:
    """In a file that was read in part, or not at all, nobody knows what a comment would hide."""
    assert found(f"{broken}b: 1  # lint-crd: ignore[VA01] free\n") == []


def test_many_comments_take_no_time() -> None:
    """A file of nothing but comments is read in one pass, and only so many are heeded."""
    text = "# lint-crd: ignore[VA01] why\n" * 50_000 + crd("spec: {type: object}")
    assert found(text) == [("LC01", "ignoring VA01 hides nothing here: remove it")] * MOST


@pytest.mark.parametrize(
    "text",
    [
        f"a: 1  # lint-crd: ignore[{','.join(f'XX{index}' for index in range(500_000))}] why\n",
        annotated(TWO, f"    lint-crd.pyopscaffold.dev/ignore-VA01: '{'.a,' * 80_000}.b why'\n"),
        annotated(TWO, "    lint-crd.pyopscaffold.dev/ignore-VA01: |\n" + "      .spec.a why\n" * 80_000),
    ],
    ids=["selectors", "patterns", "entries"],
)
def test_what_nobody_would_write_takes_no_time(text: str) -> None:
    """Only so many wishes are heeded; what is beyond them hides nothing."""
    assert [finding for finding in found(text) if finding[0] == "VA01"] == ([NAME, SIZE] if "spec:" in text else [])
