"""Fixes of YAML and JSON: what they are about changes, and nothing else does."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pyopscaffold.document.reader import Source, read
from pyopscaffold.lint import engine
from pyopscaffold.lint.config import Config
from pyopscaffold.lint.evolution import read_before
from pyopscaffold.lint.example import crd, spec
from pyopscaffold.lint.fixes import Fixed, fix
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.lint.report import json as json_report
from pyopscaffold.lint.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.lint.finding import Finding
    from pyopscaffold.lint.rule import Rule

RULES = builtin()
SIZED = "size: {type: integer, minimum: 0, maximum: 9, description: Size.}"
UNUSABLE = {"ST04-6"}
"""Left out where --against judges a fix: examples that no server takes."""
COMMENTED = """\
# Of the shop.
spec:
  type: object
  properties:
    zone: {type: integer, maximum: 9,   minimum: 1}   # odd spaces stay
    # How many.
    size:
      maximum: 9   # one hand
      minimum: 0

      type: "integer"
    # the end
"""


def checker(*select: str) -> Callable[[Source], list[Finding]]:
    """Check by some rules."""
    ruleset = Ruleset.of(RULES.choose(select=select))
    return lambda source: sorted(engine.check(source, ruleset).findings)


def fixed(text: str, *select: str, file: str = "x.yaml", unsafe: bool = False) -> Fixed:
    """Fix a text by some rules."""
    return fix(Source(file, text), checker(*select), unsafe=unsafe)


def conditions(items: str) -> str:
    """Return a CRD whose conditions are a list of these."""
    fields = f"conditions:\n  type: array\n  items:\n{indent(items, '    ')}"
    return crd(f"status:\n  type: object\n  properties:\n{indent(fields, '    ')}")


def lines_added(before: str, after: str) -> list[str]:
    """Give the lines that are new; those of before are all there, in order."""
    rest = iter(after.splitlines())
    added = []
    for line in before.splitlines():
        for other in rest:
            if other == line:
                break
            added.append(other)
        else:
            pytest.fail(f"gone: {line}")
    return [*added, *rest]


def test_comments_order_and_layout_stay() -> None:
    """Only the lines with the fixes are others."""
    before = crd(COMMENTED)
    after = fixed(before, "VA10").text
    was = "zone: {type: integer, maximum: 9,   minimum: 1}   # odd spaces stay"
    now = "zone: {type: integer, maximum: 9,   minimum: 1, format: int32}   # odd spaces stay"
    assert now in after
    assert [line.strip() for line in lines_added(before, after.replace(now, was))] == ["format: int32"]


def test_each_document_is_edited_by_itself() -> None:
    """Others, templates and what can't be read among them, stay as they are, to the byte."""
    head, tail = "# top\n---\nkind: ConfigMap\n--- # first\n", "---\nname: {{ .Values.name }}\n---\n  a:\n b: {\n"
    before = head + crd(f"spec: {{type: object, properties: {{{SIZED}}}}}") + "---\n" + spec(SIZED) + tail
    made = fixed(before, "VA10")
    assert made.text.startswith(head)
    assert made.text.endswith(tail)
    assert made.text.count("format: int32") == len(made.made) == 2
    assert made.text.replace(", format: int32", "") == before


@pytest.mark.parametrize("odd", ["\u2028", "\x85"])
def test_documents_are_told_apart_by_the_lines_of_findings(odd: str) -> None:
    """What ends a line for YAML and not in an editor moves no fix into another document."""
    text = crd(COMMENTED)
    before = f"# {f'x{odd}# ' * 200}\n{text}---\n{text.replace('idget', 'idgetty')}"
    made = fixed(before.replace(odd, " "), "VA10")
    assert len(made.made) == 4
    assert fixed(before, "VA10").text.replace(odd, " ") == made.text


def test_items_of_a_list_are_edited_where_they_stand() -> None:
    """A ``List`` of CRDs is one document with several manifests."""
    items = [yaml.safe_load(spec(SIZED)) for _ in range(3)]
    before = "# all\n" + yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=False)
    made = fixed(before, "VA10")
    assert len(made.made) == 3
    assert [line.strip() for line in lines_added(before, made.text)] == ["format: int32"] * 3


@pytest.mark.parametrize(
    ("margin", "added"), [(2, ['"format": "int32"']), ("\t", ['"format": "int32"']), (None, None)], ids=str
)
def test_json_stays_json(margin: Any, added: list[str] | None) -> None:
    """With its own indentation, be it by tabs, or in its one line, and with escapes that YAML does not know."""
    smiling = spec(SIZED.replace("Size", "Size 😀"))
    before = json.dumps(yaml.safe_load(smiling), indent=margin) + "\n"
    after = fixed(before, "VA10", file="x.json").text
    assert json.loads(after) == yaml.safe_load(fixed(smiling, "VA10").text)
    new = [line for line in after.splitlines() if line not in before.splitlines()]
    if added is None:
        assert len(new) == 1
    else:
        assert [line.strip() for line in new if "format" in line] == added
        assert len({len(line) - len(line.lstrip()) for line in new}) == 1


def test_line_ends_stay() -> None:
    """A file of Windows has no other line ends afterwards."""
    before = crd(COMMENTED).replace("\n", "\r\n")
    after = fixed(before, "VA10").text
    assert after.count("\r\n") == after.count("\n") == before.count("\n") + 1


def test_fixes_that_may_hurt_wait_to_be_asked_for() -> None:
    """A pattern refuses what was valid in a version that is served."""
    before = spec("secretName: {type: string, maxLength: 253}")
    assert fixed(before, "VA03") == Fixed(before, (), ())
    assert "pattern:" in fixed(before, "VA03", unsafe=True).text


def test_what_is_suppressed_stays() -> None:
    """The author wants it so."""
    before = crd(COMMENTED.replace("# How many.", "# lint-crd: ignore[VA10] as the old API has it"))
    assert fixed(before, "VA10").text.count("format: int32") == 1


def test_what_an_alias_repeats_is_left_alone() -> None:
    """An edit of the one place would be one of the other too; the rest of the file is fixed."""
    fields = "a: &small {type: integer, minimum: 0, maximum: 9}\nb: *small\nc: {type: integer, minimum: 0, maximum: 9}"
    before = spec(fields)
    made = fixed(before, "VA10")
    assert made.text.replace(", format: int32", "") == before
    assert [finding.field for finding in made.made] == [".spec.c"]
    assert {finding.field for finding in made.stuck} == {".spec.a", ".spec.b"}


def test_one_alias_does_not_make_each_fix_cost_a_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be edited is told apart at once; the document is not read anew for each of the others."""
    compose, parsed = yaml.compose, []

    def counted(text: str, Loader: Any) -> Any:  # noqa: N803 - PyYAML's
        parsed.append(text)
        return compose(text, Loader=Loader)

    monkeypatch.setattr(yaml, "compose", counted)
    few = "a: &small {type: integer, minimum: 0, maximum: 9}\nb: *small\n"
    made = fixed(spec(few + "\n".join(SIZED.replace("size", f"size{number}") for number in range(99))), "VA10")
    assert (len(made.made), len(made.stuck)) == (99, 2)
    assert len(parsed) < 9


def test_what_is_anchored_alone_is_edited() -> None:
    """An anchor that no alias repeats is in nobody's way, nor is a tag."""
    field = "a: &a !!map\n  type: integer\n  minimum: 0\n  maximum: 9\n"
    before = crd(f"spec: &here\n  type: object\n  properties:\n{indent(field, '    ')}")
    assert lines_added(before, fixed(before, "VA10").text) == ["                format: int32"]


def test_values_by_any_key_get_no_fields() -> None:
    """The server takes a map or fields, not both."""
    before = crd("status: {type: object, additionalProperties: {type: string}}")
    assert fixed(before, "SU03", "CO01", unsafe=True) == Fixed(before, (), ())


def test_what_a_fix_adds_may_stand_where_it_removes() -> None:
    """Its edits are made one after another where they meet."""
    names = "names:\n  type: array\n  items: {type: string}\n  uniqueItems: true  # no\n"
    before = crd(f"spec:\n  type: object\n  properties:\n{indent(names, '    ')}")
    made = fixed(before, "ST07")
    assert (len(made.made), made.stuck) == (1, ())
    assert made.text == before.replace("uniqueItems: true  # no", "x-kubernetes-list-type: set")


def test_fixes_of_one_place_are_made_one_after_another() -> None:
    """Several rules, or one of many fields, may want to change the same list; one run is enough."""
    names = [f"a{number:02}" for number in range(25)]
    fields = "\n".join([*(f"{name}: {{type: string, default: x}}" for name in names), "c: {type: string}"])
    required = f"[{', '.join(names)}, c]"
    before = crd(f"spec:\n  type: object\n  required: {required}\n  properties:\n{indent(fields, '    ')}\n")
    made = fixed(before, "DE02")
    assert len(made.made) == len(names)
    assert made.text == before.replace(required, "[c]")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "required:   # r\n# first\n- 'a'  # a\n# second\n-   \"b\"  # b\n# third\n- c\n# end\n",
            'required:   # r\n# first\n# second\n-   "b"  # b\n# third\n# end\n',
        ),
        ("required: [ a,\n  'b' , c ]  # r\n", "required: [ 'b' ]  # r\n"),
        ("required: [a, c, b]\n", "required: [b]\n"),
        ("required: [b, a, c]\n", "required: [b]\n"),
        ("required:\n    - b\n    - a\n    - c\n", "required:\n    - b\n"),
    ],
)
def test_a_list_loses_items_alone(before: str, after: str) -> None:
    """Comments, quotes and layout of the others stay."""
    fields = indent(
        "type: object\nproperties: {a: {type: string, default: x}, b: {type: string}, c: {type: string, default: x}}\n",
        "  ",
    )
    whole, expected = (crd(f"spec:\n{fields}{indent(text, '  ')}") for text in (before, after))
    assert fixed(whole, "DE02").text == expected


def test_a_list_changes_one_item_alone() -> None:
    """Comments and quotes of the others stay."""
    text = "enum:\n-   'True'  # t\n# f\n- \"False\"\n- Maybe  # m\n"
    item = f"type: object\nproperties:\n  type: {{type: string}}\n  status:\n    type: string\n{indent(text, '    ')}"
    before = conditions(item)
    assert fixed(before, "CO05", unsafe=True).text == before.replace("Maybe", "Unknown")


@pytest.mark.parametrize("margin", [2, None])
def test_a_list_gains_items_at_its_end(margin: int | None) -> None:
    """Those that were there stay as they are, in YAML and in JSON."""
    fields = "{type: string}\n    status: {type: string}\n    reason: {type: string}"
    item = f"type: object\nrequired:   # r\n-   'type'  # t\n- status\nproperties:\n    type: {fields}\n"
    before = conditions(item)
    assert lines_added(before, fixed(before, "CO03", unsafe=True).text) == [f"{' ' * 18}- reason"]
    as_json = json.dumps(yaml.safe_load(before), indent=margin)
    assert fixed(as_json, "CO03", unsafe=True).text == json.dumps(
        yaml.safe_load(before.replace("- status\n", "- status\n                  - reason\n")), indent=margin
    )


def fixable_examples() -> list[Any]:
    """Give every bad example that has a fix, with its rule."""
    return [
        pytest.param(rule, text, id=f"{rule.id}-{number}")
        for rule in RULES
        for number, text in enumerate(rule.bad)
        if any(finding.fix for finding in engine.lint([Source("x.yaml", text)], Registry((rule,))).findings)
    ]


@pytest.mark.parametrize(("rule", "text"), fixable_examples())
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_fixes_end_what_they_are_for(rule: Rule[Any], text: str, form: str) -> None:
    """Nothing is left that has a fix, nothing could not be edited, and a second run changes nothing."""
    ruleset = Ruleset.of(Registry((rule,)))
    if form == "json":
        text = json.dumps(yaml.safe_load(text), indent=2)
    made = fix(Source(f"x.{form}", text), lambda it: engine.check(it, ruleset).findings, unsafe=True)
    assert made.made
    assert not made.stuck
    assert not [it for it in engine.check(Source(f"x.{form}", made.text), ruleset).findings if it.fix]
    assert fix(Source(f"x.{form}", made.text), lambda it: engine.check(it, ruleset).findings, unsafe=True).made == ()


@pytest.mark.parametrize(("rule", "text"), [it for it in fixable_examples() if it.id not in UNUSABLE])
def test_safe_fixes_break_nothing(rule: Rule[Any], text: str) -> None:
    """What --against calls breaking, no fix does to a version that is served without being asked to."""
    source = Source("x.yaml", text)
    made = fix(source, lambda it: engine.check(it, Ruleset.of(Registry((rule,)))).findings)
    ruleset = Ruleset(RULES, Config(select=("VE",)), before=read_before([source]))
    assert [it for it in engine.check(Source("x.yaml", made.text), ruleset).findings if it.severity == "error"] == []


def test_all_rules_together_come_to_an_end() -> None:
    """With every fix of every rule made, nothing is left that has one."""
    everything = Ruleset.of(RULES.choose(select=[rule.id for rule in RULES]))
    for parameters in fixable_examples():
        text = parameters.values[1]
        made = fix(Source("x.yaml", text), lambda it: engine.check(it, everything).findings, unsafe=True)
        assert not [it for it in engine.check(Source("x.yaml", made.text), everything).findings if it.fix], text
        assert read(Source("x.yaml", made.text))


def test_json_reports_tell_what_can_be_fixed() -> None:
    """A program that offers fixes sees which are safe."""
    fields = f"{SIZED}\nother: {{type: integer}}\nname: {{type: string}}"
    report = engine.lint([Source("x.yaml", spec(fields))], RULES.choose(select=["VA10", "VA01"]))
    content = json.loads(json_report.render(report))
    assert [(it["field"], it["fixable"]) for it in content["findings"]] == [
        (".spec.size", "safe"),
        (".spec.other", "unsafe"),
        (".spec.name", False),
    ]
