"""Each mistake in a declaration is named with its place and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.loader.projects import FIRST, IMPORTS, told, told_of_each

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KIND = """\
@dataclass(kw_only=True)
class Spec:
    {field}

options = dict(group="example.com", version="v1", kind="{kind}") | dict({options})

@resource(**options)
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
    status: Status = field(default_factory=Status)
"""

STATUS = """\
from datetime import UTC
from pathlib import Path

@dataclass(kw_only=True)
class Status:
    ready: int32 = 0
    label: str = ""
    observed_at: str = ""
    conditions: Conditions = field(default_factory=list)

@dataclass(kw_only=True)
class Part:
    name: str
    colour: str | None = None

class Bare:
    size: int = 1

Loop = NewType("Loop", str)
Loop.__supertype__ = Loop  # as in type Loop = Loop, the syntax of Python 3.12

class Mixed(Enum):
    ONE = 1
    TWO = "two"

T = TypeVar("T")

@dataclass(kw_only=True)
class Ref(Generic[T]):
    to: T
"""

FIELDS = {
    "decimal": ("x: Annotated[Decimal, Ge(1)]", "the type Decimal has no schema; write Quantity"),
    "date": ("x: date", 'the type date has no schema; write datetime, or Annotated[str, Format("date")]'),
    "complex": ("x: complex", "the type complex has no schema; write two fields"),
    "path": ("x: Path", "the type Path has no schema; write str"),
    "class that is no dataclass": (
        "x: Bare",
        "the type Bare has no schema; put @dataclass(kw_only=True) above class Bare",
    ),
    "final": ("x: Final[int] = 1", "the type Final[int] has no schema; write the type itself, and @dataclass("),
    "alias of itself": ("x: Loop", "Loop stands for itself"),
    "tuple of one": ("x: tuple[int]", "the type tuple[int] has no schema; write list[...] with one type of items"),
    "pair": ("x: tuple[int, str]", "the type tuple[int, str] has no schema; write list[...] with one type of items"),
    "bare list": ("x: list", "the type list has no schema; write the type of the items, as in list[str]"),
    "bare dict": ("x: dict", "the type dict has no schema; write dict[str, ...] with the type of the values"),
    "dict with int keys": (
        "x: dict[int, str]",
        "the type dict[int, str] has no schema; write dict[str, ...] with the type of the values",
    ),
    "union of dataclasses": (
        "x: Part | Status",
        "write one dataclass with an optional field for each alternative, of which exactly one is to be set",
    ),
    "union of dataclass and none of it": ("x: Ref[int] | str", "of which exactly one is to be set"),
    "bytes or text": ("x: bytes | str", "the type bytes | str has no schema; write str, int, bool, a Literal"),
    "duration or number": ("x: timedelta | int", "the type datetime.timedelta | int has no schema; write str"),
    "union of scalars": ("x: int | bool", "write str, int, bool, a Literal, a list, a dict or a dataclass"),
    "mixed enum": ("x: Mixed", "an enum of 1, 'two' is neither all str nor all int; write values of one type"),
    "mixed literal": ('x: Literal["a", 1]', "an enum of 'a', 1 is neither all str nor all int"),
    "item that may be None": ("x: list[str | None]", "an item of a list can't be None; remove it from the type"),
    "required but None": ("x: int | None", "None is left out when written, so it can't be required; write = None"),
    "bound on a string": ("x: Annotated[str, Ge(1)]", "Ge can't apply to a string; bounds are for int and float"),
    "size of a number": ("x: Annotated[int, MaxLen(1)]", "MaxLen can't apply to an integer; sizes are for"),
    "pattern of a number": (
        'x: Annotated[int, Pattern("a")]',
        "Pattern can't apply to an integer; patterns are for str",
    ),
    "bound on items": ("x: list[Annotated[str, Le(1)]]", "Le can't apply to a string"),
    "bound that is no number": ('x: Annotated[int, Ge("1")]', "Ge('1') is no number; write a number"),
    "look-around": ('x: Annotated[str, Pattern("(?!a)b")]', "RE2 has no look-ahead (?!…), at character 1"),
    "pattern in another language": ("x: Annotated[str, Pattern(5)]", "the pattern 5 is no text; write one in quotes"),
    "broken pattern": ('x: Annotated[str, Pattern("(")]', "the pattern '(' is no regular expression"),
    "list-map of scalars": ('x: Annotated[list[str], ListMap("name")]', "the items of a ListMap are dataclasses"),
    "list-map without keys": (
        "x: Annotated[list[Part], ListMap()]",
        "ListMap is to name each key once; write ListMap('",
    ),
    "unknown key": (
        'x: Annotated[list[Part], ListMap("nmae")]',
        "there is no field nmae to be a key of the list; did you mean name?",
    ),
    "optional key": (
        'x: Annotated[list[Part], ListMap("colour")]',
        "the key colour can be missing; give it no default, or one that is not None",
    ),
    "list-set of dataclasses": (
        "x: Annotated[list[Part], ListSet()]",
        "the items of a ListSet are scalars, or @atomic; write ListMap",
    ),
    "map type": ('x: Annotated[Part, MapType("atom")]', "MapType('atom') does not exist; write MapType('granular')"),
    "default below its bound": (
        "x: Annotated[int, Ge(1)] = 0",
        "its default is not allowed: 0 is less than 1; write = None for no default, or change it",
    ),
    "default that does not match": ('x: Annotated[str, Pattern("^a$")] = "b"', 'its default is not allowed: "b"'),
    "default beyond int32": ("x: int32 = 2**31", "its default is not allowed: 2147483648 does not fit into int32"),
    "marker's default": ("x: Annotated[int, Default(9), Le(5)] = 1", "its Default is not allowed: 9 is more than 5"),
    "example": ("x: Annotated[int, Example('a')] = 1", 'its example is not allowed: "a" is not an integer'),
    "default that JSON has not": (
        'x: float = float("nan")',
        "its default can't be written as JSON: Out of range float",
    ),
    "default deep inside": (
        'x: dict[str, float] = field(default_factory=lambda: {"a": float("inf")})',
        "its default can't be written as JSON: Out of range float",
    ),
    "half a character as default": ('x: str = "\\ud800"', "its default can't be written as JSON: 'utf-8' codec"),
    "marker's infinite default": (
        'x: Annotated[float, Default(float("inf"))] = 1.0',
        "Default has inf, which JSON can't say",
    ),
    "naive default": ("x: datetime = datetime(2026, 1, 1)", "its default can't be written as JSON: "),
    "another default each time": (
        "x: datetime = field(default_factory=lambda: datetime.now(UTC))",
        "its default is another one each time, which no CRD can say; write = None",
    ),
    "marker's class": ("x: Annotated[int, Ge]", "Ge is the marker's class; write Ge(...)"),
    "grouped marker's class": ("x: Annotated[str, Len]", "Len is the marker's class; write Len(...)"),
    "our marker's class": ("x: Annotated[str, Doc]", "Doc is the marker's class; write Doc(...)"),
    "bound that is infinite": ('x: Annotated[float, Ge(float("inf"))]', "Ge('inf') is no number; write a number"),
    "half a bound": ("x: Annotated[int, Ge(1.5)]", "Ge(1.5) is no whole number; write one, as the field is an int"),
    "multiple of nothing": (
        "x: Annotated[int, MultipleOf(0)]",
        "MultipleOf(0) is not above 0; write a positive number",
    ),
    "size below nothing": ("x: Annotated[str, MaxLen(-1)]", "MaxLen(-1) is no size; write 0 or more"),
    "bounds that cross": (
        "x: Annotated[int, Ge(5), Le(4)]",
        "no number is at least 5 and at most 4; change one of the bounds",
    ),
    "nothing between": (
        "x: Annotated[int, Gt(4), Lt(5)]",
        "no number is more than 4 and less than 5; change one of the bounds",
    ),
    "bound beyond the type": (
        "x: Annotated[int32, Le(2**31)]",
        "the bound 2147483648 does not fit into int32; change the bound or the type",
    ),
    "sizes that cross": ("x: Annotated[str, Len(3, 2)]", "MinLen(3) is above MaxLen(2); change one of them"),
    "enum beyond its bounds": (
        "x: Annotated[Literal['a', 'long'], MaxLen(2)]",
        "no value can be 'long': it has 4 of at most 2 characters; change the enum or the other marker",
    ),
    "two list types": (
        "x: Annotated[list[str], ListSet(), ListAtomic()]",
        "ListSet and ListAtomic contradict each other; remove one",
    ),
    "default and none": (
        "x: Annotated[int, Default(1), NoSchemaDefault()] = 1",
        "Default and NoSchemaDefault contradict each other; remove one",
    ),
    "unique items": (
        "x: Annotated[list[str], UniqueItems()]",
        "UniqueItems can't apply to a list; the API server refuses uniqueItems; write ListSet() or ListMap('key')",
    ),
    "values of another type": (
        'x: Annotated[int, OneOfValues("a")]',
        'OneOfValues: "a" is not an integer; write values of the field\'s type',
    ),
    "no values": ("x: Annotated[int, OneOfValues()]", 'OneOfValues() names no value; write OneOfValues("a", "b")'),
    "schema type": (
        'x: Annotated[str, SchemaType("text")]',
        "SchemaType('text') does not exist; write one of string, integer, number, boolean, array, object",
    ),
    "array of nothing": ('x: Annotated[Any, SchemaType("array")]', "says nothing of the items; write list[...]"),
    "schema of nothing": (
        "x: Annotated[int, Schemaless()]",
        "Schemaless leaves a value of no type; write PreserveUnknownFields() or SchemaType(...) beside it",
    ),
    "embedded number": ("x: Annotated[int, EmbeddedResource()]", "it is for dataclasses and RawExtension"),
    "embedded nothing": (
        'x: Annotated[Any, SchemaType("object"), EmbeddedResource()]',
        "EmbeddedResource would prune every field; write PreserveUnknownFields() beside it",
    ),
    "no metadata to keep": ("x: Annotated[Part, KeepMetadata()]", "KeepMetadata finds no ObjectMeta in it; remove it"),
    "selectable float": ("x: Annotated[float, Selectable()]", "Selectable can't apply to a number; it is for str, int"),
    "title": ("x: Annotated[int, Title(5)]", "Title has 5, no text; write one in quotes"),
    "broken pattern in a junctor": (
        'x: Annotated[str, AnyOf({"pattern": "a**"})]',
        "pattern is 'a**'; write what the API server can read: RE2 has no repeat of a repeat **",
    ),
    "empty junctor": ("x: Annotated[int, AnyOf()]", 'AnyOf() holds no schema; write AnyOf({"required": ["name"]})'),
    "junctor with a type": (
        'x: Annotated[str, OneOf({"type": "string"})]',
        "OneOf: type can't stand in it; write it on the field itself",
    ),
    "junctor in snake case": (
        'x: Annotated[str, Not({"min_length": 1})]',
        "Not: there is no min_length; did you mean minLen",
    ),
    "junctor's unknown field": (
        'x: Annotated[Part, AllOf({"not": {"properties": {"nmae": {}}}})]',
        "AllOf: there is no field nmae; did you mean name?",
    ),
    "rule without words": ('x: Annotated[str, CEL("")]', 'CEL("") says nothing; write an expression such as CEL("'),
    "rule that does not parse": (
        'x: Annotated[int, CEL("self > 0 and true")]',
        "rule of CEL does not parse, 'self > 0 and true': expected the end, or an operator, but found and, write && at",
    ),
    "message that does not parse": (
        """x: Annotated[str, CEL("self == ''", message_expression="'it is ' + ")]""",
        """message_expression of CEL does not parse, "'it is ' + ": expected an expression but found the end of""",
    ),
    "macro with wrong arguments": (
        'x: Annotated[list[str], CEL("self.all(self.x, true)")]',
        "all() starts with the name of a variable, as in all(x, …), found none at 1:10",
    ),
    "rule of blanks": ('x: Annotated[str, CEL(" ")]', "rule of CEL is ' ', no text; write one in quotes"),
    "rule that is no text": ("x: Annotated[str, CEL(5)]", "rule of CEL is 5, no text; write one in quotes"),
    "blank message": ('x: Annotated[str, CEL("true", message=" ")]', "message of CEL is ' ', no text"),
    "message of two lines": (
        'x: Annotated[str, CEL("true", message="a\\nb")]',
        "the message of a CEL rule is one line",
    ),
    "long rule without a message": (
        'x: Annotated[str, CEL("true &&\\ntrue")]',
        'a CEL rule of several lines has no message; write message="..."',
    ),
    "reason": (
        'x: Annotated[str, CEL("true", reason="Forbidden")]',
        "CEL has no reason 'Forbidden'; write FieldValueInvalid, FieldValueForbidden, FieldValueRequired or FieldV",
    ),
    "path that is none": (
        'x: Annotated[Part, CEL("true", field_path="name")]',
        "the field_path 'name' is no JSON path; write one such as .podCount or .limits['cpu']",
    ),
    "path to nothing": (
        'x: Annotated[Part, CEL("true", field_path=".nmae")]',
        "the field_path '.nmae' names no field; write .name",
    ),
    "path to something else": (
        'x: Annotated[Part, CEL("true", field_path=".size")]',
        "the field_path '.size' names no field; there are colour, name",
    ),
    "path by a Python name": (
        'x: Annotated[Status, CEL("true", field_path=".observed_at")]',
        "the field_path '.observed_at' names no field; write .observedAt",
    ),
    "path below a string": (
        'x: Annotated[str, CEL("true", field_path=".a")]',
        "the field_path '.a' names no field; leave it out",
    ),
    "rule on anything": (
        'x: Annotated[Any, CEL("true")]',
        "CEL can't apply to Any; no rule can look into what has no schema",
    ),
    "immutable anything": ("x: Annotated[Any, Immutable()]", "Immutable can't apply to Any; no rule can look into"),
    "old value without oldSelf": (
        "x: Annotated[str, CEL(\"self != r'oldSelf' // oldSelf\", optional_old_self=True)]",
        "optional_old_self is for rules that read oldSelf; leave it out",
    ),
    "immutable item": (
        "x: list[Annotated[str, Immutable()]]",
        "Immutable reads the old value, but the items of Spec.x have no key to find it by; write ListMap there, or put",
    ),
    "rule on the old item of a set": (
        'x: Annotated[list[Annotated[str, CEL("self.size() >= oldSelf.size()")]], ListSet()]',
        "CEL reads the old value, but the items of Spec.x have no key to find it by; write ListMap there",
    ),
    "private name": ("_x: int = 1", "no field of an API starts with an underscore; rename it, or write Name"),
    "unbound generic": ("x: Ref", "the type T has no schema; name a type where the class is used, as in Ref[Secret]"),
}

OPTIONS = {
    "column without such a field": (
        'columns=[Column("A", path="status.redy")]',
        'column "A": there is no status.redy: Status has no field redy; did you mean ready?',
    ),
    "column of an object": ('columns=[Column("A", path="status")]', 'column "A": status is no single value'),
    "column into a list": ('columns=[Column("A", path="status.conditions.type")]', "type is not in a dataclass"),
    "column in two ways": (
        'columns=[Column("A", path="status.ready", condition="Ready")]',
        'column "A" takes exactly one of path=, condition= and json_path=',
    ),
    "column with a dot before": (
        'columns=[Column("A", path=".status.ready")]',
        'column "A": there is no .status.ready: it has a dot too many; write it as in spec.replicas',
    ),
    "JSON path without a dot": ('columns=[Column("A", json_path="status")]', "is to start with a dot; write .status"),
    "scale of a string": ('scale=Scale(spec="spec.x", status="status.label")', "scale: status.label is to be an int"),
    "scale elsewhere": ('scale=Scale(spec="status.ready", status="status.ready")', "status.ready is not below spec"),
    "group": ('group="Example.com"', 'group "Example.com" is no domain in lower case'),
    "group without a dot": ('group="example"', 'group "example" is no domain in lower case'),
    "reserved group": ('group="db.k8s.io"', 'group "db.k8s.io" is reserved for Kubernetes'),
    "version": ('version="1"', 'version "1" is none; write v1, v1beta1 or the like'),
    "kind": ('kind="my-thing"', 'kind "my-thing" is no CamelCase word of 63 letters at most; write MyDatabase or the'),
    "plural": ('plural="My things"', 'plural "My things" is none; write lower-case letters, digits and dashes, 63'),
    "short name": ('short_names=["DB"]', 'short name "DB" is none; write lower-case letters, digits and dashes, 63 at'),
    "nothing stored": ("storage=False", "no version of v1 is stored; drop storage=False on one"),
}

SUBJECTS = {
    "private name": "Spec._x",
    "item that may be None": "Spec.x[]",
    "bound on items": "Spec.x",
    "immutable item": "Spec.x[]",
    "rule on the old item of a set": "Spec.x[]",
    "unbound generic": "Ref.to",
}


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Give what is said about each case."""
    cases = {name: (field, "") for name, (field, _) in FIELDS.items()}
    cases |= {name: ("x: int = 1", options) for name, (options, _) in OPTIONS.items()}
    texts = {
        name: STATUS + KIND.format(field=field, kind="Thing", options=options)
        for name, (field, options) in cases.items()
    }
    return told_of_each(tmp_path_factory.mktemp("problems"), texts)


@pytest.mark.parametrize("name", FIELDS)
def test_field(problems: Mapping[str, list[str]], name: str) -> None:
    """A field's mistake is told once, at the field's own line, with what to write instead."""
    (problem,) = problems[name]
    assert FIELDS[name][1] in problem
    assert f": {SUBJECTS.get(name, 'Spec.x')}: " in problem


@pytest.mark.parametrize("name", OPTIONS)
def test_option(problems: Mapping[str, list[str]], name: str) -> None:
    """A mistake in @resource is told once, at its line, with what to write instead."""
    (problem,) = problems[name]
    line = (IMPORTS + STATUS + KIND).splitlines().index("@resource(**options)") + 1
    assert OPTIONS[name][1] in problem
    assert f".py:{line}: Thing: " in problem


def test_all_problems_of_a_run_sorted_by_place(tmp_path: Path) -> None:
    """Several mistakes come in one error, in the order of their lines."""
    said = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Spec:
            one: Decimal
            two: Annotated[str, Ge(1)]

        @resource(group="example.com", version="1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    assert [line.split(": ")[:2] for line in said] == [
        [f"acme/api/kind.py:{FIRST + 2}", "Spec.one"],
        [f"acme/api/kind.py:{FIRST + 3}", "Spec.two"],
        [f"acme/api/kind.py:{FIRST + 5}", "Thing"],
    ]


def test_recursion(tmp_path: Path) -> None:
    """A dataclass that contains itself is refused at the field that closes the circle."""
    (said,) = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Node:
            children: list[Node] = field(default_factory=list)

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Tree(Object):
            spec: Node
        """,
    )
    assert said == (
        f"acme/api/kind.py:{FIRST + 2}: Node.children[]: Node contains itself, which no CRD schema can express;"
        f" write Any for the inner one"
    )


def test_duplicate_json_names(tmp_path: Path) -> None:
    """Two fields of one JSON name are both named."""
    said = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Spec:
            cluster_ip: str
            other: Annotated[str, Name("clusterIp")]

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    assert [line.split(": ")[1] for line in said] == ["Spec.cluster_ip", "Spec.other"]
    assert all('has the JSON name clusterIp too; write Name("...") on one of them' in line for line in said)


def test_name_only_known_to_the_type_checker(tmp_path: Path) -> None:
    """A hint that the module does not define at run time is explained, and columns that lead there are not blamed."""
    said, of_status = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Spec:
            path: Path

        @dataclass(kw_only=True)
        class Status:
            conditions: Conditions
            path: Path

        @resource(
            group="example.com",
            version="v1",
            columns=[Column("Path", path="spec.path"), Column("Ready", condition="Ready")],
        )
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
            status: Status
        """,
    )
    assert "a type hint says Path, which the module does not define when it runs; define it there, or import it" in said
    assert ": Status.path: a type hint says Path" in of_status


def test_spec_that_is_no_dataclass(tmp_path: Path) -> None:
    """Spec is a dataclass, and names that every object has are taken."""
    said = told(
        tmp_path,
        """\
        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: dict[str, str]
            other: Annotated[str, Name("kind")]
        """,
    )
    assert ["spec is to be a dataclass" in said[0], "every object has kind already" in said[1]] == [True, True]


@pytest.mark.parametrize("above", ["@dataclass(kw_only=True)", ""])
def test_no_dataclass_below_resource(tmp_path: Path, above: str) -> None:
    """@resource below @dataclass, or without one, is refused with its line."""
    text = f'{above}\n@resource(group="example.com", version="v1")\nclass Thing(Object):\n    spec: str\n'
    (said,) = told(tmp_path, text)
    message = "@resource must stand above @dataclass(kw_only=True); write that line between @resource and the class"
    assert said == f"acme/api/kind.py:{FIRST + 1}: Thing: {message}"


VERSIONS = """\
@dataclass(kw_only=True)
class Spec:
    x: int = 1

@resource(group="example.com", version="v1", kind="Thing")
@dataclass(kw_only=True)
class ThingV1(Object):
    spec: Spec

@resource(group="example.com", version="{version}", kind="{kind}", {options})
@dataclass(kw_only=True)
class ThingV2(Object):
    spec: Spec
"""


@pytest.mark.parametrize(
    ("version", "kind", "options", "message"),
    [
        ("v2", "Thing", "", "one version of v1, v2 is stored, not 2; write storage=False on all but one"),
        ("v1", "Thing", "storage=False", f"Thing v1 is declared at acme/api/kind.py:{FIRST + 4} too; remove one"),
        (
            "v2",
            "Thing",
            'storage=False, scope="Cluster", plural="a", singular="b"',
            "plural, singular, scope differ from v1; write the same in every version",
        ),
        (
            "v2",
            "Thing",
            'storage=False, short_names=["th"], categories=["all"]',
            "short_names, categories differ from v1; write the same in every version",
        ),
        (
            "v1",
            "Other",
            'plural="things"',
            "Thing is called things too, in the same group; write plural= on one of them",
        ),
        ("v1", "Other", 'singular="thing"', "Thing is called thing too, in the same group; write singular= on one of"),
        ("v1", "Other", 'short_names=["things"]', "Thing is called things too, in the same group; change short_names="),
        ("v1", "ThingList", "", "Thing is called ThingList too, in the same group; write kind= on one of them"),
    ],
)
def test_versions(tmp_path: Path, version: str, kind: str, options: str, message: str) -> None:
    """Versions of a kind agree, one is stored, and no two kinds share a name."""
    (said,) = told(tmp_path, VERSIONS.format(version=version, kind=kind, options=options))
    assert said.startswith(f"acme/api/kind.py:{FIRST + 9}: ThingV2: ")
    assert message in said


def test_keys_of_lists_in_the_status(tmp_path: Path) -> None:
    """The key of a list-map in the status must be required: the server fills in no default there."""
    (said,) = told(
        tmp_path,
        """\
        @dataclass(kw_only=True)
        class Member:
            name: str = "main"

        @dataclass(kw_only=True)
        class Status:
            members: Annotated[list[Member], ListMap("name")] = field(default_factory=list)

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            status: Status = field(default_factory=Status)
        """,
    )
    message = "the key name has a default, which no status gets; remove it, or write Default(...)"
    assert said == f"acme/api/kind.py:{FIRST + 6}: Status.members: {message}"
