"""The loader refuses what the API server would: the smallest declarations that its oracle has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.loader.projects import read_kind, told, told_of_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KIND = """
@dataclass(kw_only=True)
class Spec:
    x: {field}

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""

CASES = {
    'Annotated[str, AllOf({"minLength": 1.5})]': "AllOf: minLength is 1.5; write 0 or more",
    'Annotated[str, AnyOf({"maxLength": True})]': "AnyOf: maxLength is True; write 0 or more",
    'Annotated[str, Not({"pattern": 1})]': "Not: pattern is 1; write a text",
    'Annotated[int, OneOf({"minimum": "1"})]': "OneOf: minimum is '1'; write a number",
    'Annotated[int, Not({"multipleOf": 0.5})]': "Not: multipleOf is 0.5; write a whole number above 0",
    'Annotated[int, Not({"exclusiveMinimum": 1})]': (
        "Not: exclusiveMinimum is 1; write True or False, beside the bound"
    ),
    'Annotated[str, Not({"enum": "a"})]': "Not: enum is 'a'; write a list of values",
    'Annotated[dict[str, str], Not({"required": [1]})]': "Not: required is [1]; write a list of JSON names",
    "Annotated[float, Lt(10**30)]": "the bound 1000000000000000000000000000000 does not fit into int64; "
    "change the bound or the type",
    "Annotated[str, MaxLen(2**63)]": "MaxLen(9223372036854775808) is no size; write 0 or more",
    'Annotated[int | str, Format("hostname")] = 80': (
        "Format can't apply to an int-or-string; formats are for str, int and float"
    ),
    "Annotated[int, IntOrString()]": (
        "IntOrString can't apply to an integer; it is for str; write int | str for what is one of them in Python too"
    ),
    'Annotated[dict[str, list[Any]], CEL("true")]': (
        "no rule can look into what has no schema; write a type for the items or values"
    ),
    "Annotated[list[Any], Immutable()] = field(default_factory=list)": (
        "no rule can look into what has no schema; write a type for the items or values"
    ),
    'Annotated[str, Name("$ref"), Immutable()]': "no rule can name the field $ref, so it can't be Immutable",
    "Annotated[list[Annotated[str, Nullable()]], ListSet()]": (
        "the items of a ListSet can't be null; remove Nullable()"
    ),
    'Annotated[list[Condition], ListMap("type", "type")]': ("ListMap is to name each key once; write ListMap('name')"),
    'Annotated[list[Annotated[Condition, Nullable()]], ListMap("type")]': (
        "the items of a ListMap, and its keys, can't be null; remove Nullable()"
    ),
    'Annotated[list[RawExtension], ListMap("name")]': (
        "the items of a ListMap are dataclasses; write ListSet() for scalars"
    ),
    'Annotated[str, Len("1", 3)]': "MinLen('1') is no size; write 0 or more",
    "Annotated[int, Default(1), Ge(2)]": "its Default is not allowed: 1 is less than 2; change the Default",
    'Annotated[str, AllOf({"items": {"minLength": 1}})]': "AllOf: items is for list[...]",
    "list[str] = field(default_factory=dict)": (
        "its default_factory makes dict, where list is wanted; write default_factory=list"
    ),
    "dict[str, str] = field(default_factory=list)": (
        "its default_factory makes list, where dict is wanted; write default_factory=dict"
    ),
    "set[str] | None = field(default_factory=list)": (
        "its default_factory makes list, where set is wanted; write default_factory=set"
    ),
    "int = field(default_factory=bool)": (
        "its default_factory makes bool, where int is wanted; write default_factory=int"
    ),
    "ObjectMeta = field(default_factory=dict)": (
        "its default_factory makes dict, where ObjectMeta is wanted; write default_factory=lambda: ObjectMeta(...)"
    ),
    "Annotated[str, CEL(\"self.matches('^(a|b$') || self.matches('[')\")]": (
        "rule of CEL has the pattern '^(a|b$' in matches, at 1:14, which is no regular expression to the API server: "
        "the group has no closing ), write \\( for the character, at character 2"
    ),
    "Annotated[str, CEL(\"matches(self, r'\\\\d(?=x)')\")]": (
        "rule of CEL has the pattern '\\\\d(?=x)' in matches, at 1:15, which is no regular expression to the API "
        "server: RE2 has no look-ahead (?=…), at character 3"
    ),
    'Annotated[str, CEL("true", message_expression="self.find(\'*\')")]': (
        "message_expression of CEL has the pattern '*' in find, at 1:11, which is no regular expression to the API "
        "server: there is nothing before * to repeat, write \\* for the character, at character 1"
    ),
}

PART = "@dataclass(kw_only=True)\nclass Part:\n    "
CLASSES = {
    '@mark(EmbeddedResource())\n{}metadata: Annotated[ObjectMeta, KeepMetadata(), Default({{"name": "A_B"}})]': (
        "metadata of an EmbeddedResource is ObjectMeta; change the field's type or its name"
    ),
    '@mark(EmbeddedResource())\n{}kind: str = ""': 'the default of kind: "" is no kind; change it, or write = None',
    '@mark(AllOf({{"properties": {{"metadata": {{}}}}}}))\n{}metadata: ObjectMeta': (
        "AllOf: nothing can be said of metadata in it; write a rule in CEL"
    ),
    '@at_most_one_of("a", "b")\n{}a: str | None = None\n    b: Any = None': (
        "at_most_one_of is a rule, and none can look into b; give it a type and a name in letters"
    ),
    "@mark(EmbeddedResource())\n{}metadata: list[str]": (
        "metadata of an EmbeddedResource is ObjectMeta; change the field's type or its name"
    ),
    "@mark(EmbeddedResource())\n{}kind: int": (
        "kind of an EmbeddedResource is a string; change the field's type or its name"
    ),
}


STATUS = """
@dataclass(kw_only=True)
class Status:
    ready: bool = False

@resource(group="example.com", version="v1"{options})
{below}
@dataclass(kw_only=True)
class Thing(Object):
    status: Status | None = None
"""
KINDS = {
    ("", 'deprecated="a\\nb"'): "deprecated= is no line of at most 256 bytes; shorten it, and write it in one line",
    ("", 'deprecated="é" * 129'): "deprecated= is no line of at most 256 bytes; shorten it, and write it in one line",
    ("", 'columns=[Column("", path="status.ready")]'): "a column has no name; write Column('Replicas', ...)",
    ("", 'columns=[Column("A", path="status.ready", format="int")]'): (
        "the column A has no format 'int'; write one of byte, date, date-time, double, float, int32, int64, password"
    ),
    ("", 'columns=[Column("A", json_path=".status[")]'): (
        'column "A": the JSON path .status[ can\'t be read, and the API server would leave out this column and those '
        "after it: a [ is not closed; write ] behind it"
    ),
    ("", 'annotations={"a": "é" * 131_072}'): (
        "the annotations have 262,145 bytes together, and the API server takes 262,144; shorten a, or keep it elsewhere"
    ),
    ("@atomic", ""): "MapType can't stand on a kind with a status; write it on spec, or a rule in CEL",
    ("@mark(MinLen(1))", ""): "MinLen can't stand on a kind with a status; write it on spec, or a rule in CEL",
    ('@mark(Not({"required": ["status"]}))', ""): (
        "Not can't stand on a kind with a status; write it on spec, or a rule in CEL"
    ),
}


def _texts() -> Iterator[tuple[object, str]]:
    yield from ((field, KIND.format(field=field)) for field in CASES)
    for above in CLASSES:
        yield above, f"{above.format(PART)}\n{KIND.format(field='Part')}"
    for below, options in KINDS:
        yield (below, options), STATUS.format(below=below, options=f", {options}" if options else "")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[object, list[str]]:
    """Give what is said about each case."""
    return told_of_each(tmp_path_factory.mktemp("refusals"), dict(_texts()))


@pytest.mark.parametrize("field", CASES)
def test_refused(said: Mapping[object, list[str]], field: str) -> None:
    """What makes a CRD that no server takes, or one that takes no object, is a mistake with a place and a way out."""
    (problem,) = said[field]
    assert problem.endswith(f": Spec.x: {CASES[field]}")


@pytest.mark.parametrize("above", CLASSES)
def test_classes_refused(said: Mapping[object, list[str]], above: str) -> None:
    """So is what stands above a dataclass."""
    (problem,) = said[above]
    assert problem.endswith(f": Part: {CLASSES[above]}")


@pytest.mark.parametrize(("below", "options"), KINDS)
def test_kinds_refused(said: Mapping[object, list[str]], below: str, options: str) -> None:
    """So is what is said of the kind as a whole."""
    (problem,) = said[below, options]
    assert problem.endswith(f": Thing: {KINDS[below, options]}")


@pytest.mark.parametrize(
    ("approval", "fits"),
    [("https://example.com/1", True), ("unapproved, request not yet submitted", True), ("soon", False), ("", False)],
)
def test_approval(tmp_path: Path, approval: str, *, fits: bool) -> None:
    """A group of Kubernetes' own needs the URL of a review, or a word that says that there was none."""
    kind = STATUS.format(below="", options=f', annotations={{"api-approved.kubernetes.io": "{approval}"}}')
    text = kind.replace("example.com", "x.k8s.io", 1)
    if fits:
        assert read_kind(tmp_path, text).gvk.group == "x.k8s.io"
        return
    (problem,) = told(tmp_path, text)
    way = 'write the URL of the review, or a reason that starts with "unapproved"'
    assert problem.endswith(f': Thing: api-approved.kubernetes.io is "{approval}"; {way}')


@pytest.mark.parametrize("field", ["Annotated[str, Default(3)]", "list[Annotated[str, Default(3)]]"])
def test_defaults_of_a_status(tmp_path: Path, field: str) -> None:
    """A Default is the server's in the status too, and on items."""
    text = STATUS.format(below="", options="").replace("ready: bool = False", f"ready: {field}")
    (problem,) = told(tmp_path, text)
    assert problem.endswith(": its Default is not allowed: 3 is not a string; change the Default")


def test_default_factory_of_a_status(tmp_path: Path) -> None:
    """What a default_factory makes is of the field's type, though no default of a status is in the CRD."""
    text = STATUS.format(below="", options="").replace(
        "ready: bool = False", "at: list[str] = field(default_factory=str)"
    )
    (problem,) = told(tmp_path, text)
    assert problem.endswith(
        ": Status.at: its default_factory makes str, where list is wanted; write default_factory=list"
    )
