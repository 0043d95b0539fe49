"""What a declaration can be given that it does not take: each is told at its place, and none ends the reading."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import LoadError
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.schema import to_mapping
from tests.unit.loader.projects import IMPORTS, read, read_kind, told, told_of_each

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PARTS = """\
from enum import Flag
from typing import TypedDict

class Access(Flag):
    READ = 1

class Pair(Enum):
    ONE = (1, 2)

class Typed(TypedDict):
    a: int

@dataclass(kw_only=True)
class Port:
    name: str
    labels: list[str]
    shape: Annotated[str, SchemaType("object")]

@dataclass(kw_only=True)
class Place:
    zone: Annotated[str, Selectable()]

T = TypeVar("T")

@dataclass
class Grown(Generic[T]):
    more: Grown[list[T]] | None = None
"""
SPEC = """\
{above}
@dataclass(kw_only=True)
class Spec:
    {field}
"""
KIND = """\
options = dict(group="example.com", version="v1", kind="{kind}") | dict({options})

@resource(**options)
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
AGAIN = """\
def again(cls):
    return resource(**options | {"version": "v2"})(cls)

"""

FIELDS = {
    "x: Annotated[str, Len('a')]": "MinLen('a') is no size; write 0 or more",
    "x: Annotated[str, Format(3)]": "Format has 3, no text; write one in quotes",
    "x: Annotated[str, Format(None)]": "Format has None, no text; write one in quotes",
    "x: Annotated[str, Title(None)]": "Title has None, no text; write one in quotes",
    "x: Annotated[str, Doc(None)]": "Doc has None, no text; write one in quotes",
    "x: Annotated[str, ExternalDocs(None)]": "ExternalDocs has None, no text; write one in quotes",
    "x: Annotated[str, Name('')]": """'' is no JSON name; write Name("...")""",
    "x: Annotated[str, Name(None)]": """None is no JSON name; write Name("...")""",
    "x: Annotated[str, CEL('self == oldSelf', optional_old_self='yes')]": (
        "optional_old_self of CEL is 'yes'; write True, or leave it out"
    ),
    "x: Annotated[list[Port], ListMap(3)]": """ListMap names fields by texts, not 3; write ListMap("name")""",
    "x: Annotated[list[Port], ListMap('labels')]": "the key labels is no single value; name a field that is",
    "x: Annotated[list[Port], ListMap('shape')]": "the key shape is no single value; name a field that is",
    "x: Annotated[str, Example(float('inf'))]": "Example has inf, which JSON can't say; write what it can",
    "x: Annotated[Any, Default({1: 2})]": "Default has {1: 2}, which JSON can't say; write what it can",
    "x: Annotated[str, OneOfValues(1j)]": "OneOfValues has (1j,), which JSON can't say; write what it can",
    "x: Annotated[str, Not({'enum': [1j]})]": "Not has ({'enum': [1j]},), which JSON can't say; write what it can",
    r"x: Annotated[str, Doc('\ud800')]": r"Doc has '\ud800', which JSON can't say; write what it can",
    "x: Annotated[list[str], OneOfValues('a')]": 'OneOfValues: "a" is not a list; write values of the field\'s type',
    "x: list[Annotated[str, Name('y')]]": (
        "Name is for fields, not for an item of a list; write it around the whole type, or remove it"
    ),
    "x: dict[str, Annotated[str, Selectable()]]": (
        "Selectable is for fields, not for a value of a dict; write it around the whole type, or remove it"
    ),
    "x: Annotated[str, Selectable(), Name('a.b')]": (
        "no selector reaches it inside of a list or dict, or without a plain name; remove Selectable()"
    ),
    "x: Literal[2**63]": "the value 9223372036854775808 does not fit into int64; write str for such numbers",
    "x: Annotated[timedelta, Default('PT5M')]": (
        "its Default is not allowed: 'PT5M' is no duration; write it like 1h30m, 5m0s or 500ms; change the Default"
    ),
    r"x: Annotated[str, CEL('true', message='a\rb')]": "the message of a CEL rule is one line; write it in one",
    r"x: Annotated[str, CEL('true ||\r false')]": 'a CEL rule of several lines has no message; write message="..."',
    "x: Access": "the type Access has no schema; write list[...] of a StrEnum for several, an IntEnum for one",
    "x: Pair": "an enum of (1, 2) is neither all str nor all int; write values of one type",
    "x: Typed": "the type Typed has no schema; write str, int, bool, a Literal, a list, a dict or a dataclass",
    "x: Literal['a', None] = None": "an enum of 'a', None is neither all str nor all int; write | None behind it",
    r"x: Literal['\ud800']": r"an enum of '\ud800' is neither all str nor all int; write values of one type",
    r"x: Annotated[str, Name('\udfff')]": r"""'\udfff' is no JSON name; write Name("...")""",
    'x: str\n    """half: \\ud800"""': (
        r"its docstring has half a character, which no file can hold: 'half: \ud800'; write it whole"
    ),
    "x: dict[str, str] = field(default_factory=lambda: {1: 'a'})": (
        "its default can't be written as JSON: the key 1 is no text"
    ),
    "x: Place = field(default_factory=dict)": (
        "its default_factory makes dict, where Place is wanted; write default_factory=lambda: Place(...)"
    ),
    "x: list[str] = field(default_factory=lambda: 1 / 0)": "it can't be read: ZeroDivisionError: division by zero",
    "x: Annotated[str, Not()]": (
        "it can't be read: TypeError: Not.__init__() missing 1 required positional argument: 'schema'"
    ),
}
ABOVE = {
    "@exactly_one_of(['x', 'y'])": (
        """exactly_one_of names fields by texts, not ['x', 'y']; write exactly_one_of("name")"""
    ),
    "@mark(3)": "mark takes markers, not 3; write one such as Title(...)",
}
OPTIONS = {
    "version=1": "version is to be a text, not 1",
    'short_names="db"': "short_names is to be a list, not 'db'; write short_names=[\"db\"]",
    "columns=5": "columns is to be a list, not 5; write columns=[Column(...), Age()]",
    "columns=[Age]": "columns has Age itself in it; write columns=[Column(...), Age()]",
    'scope="namespaced"': """scope is to be "Namespaced" or "Cluster", not 'namespaced'""",
    'scale="spec.x"': "scale is to be Scale, not 'spec.x'",
    'storage="no"': "storage is to be True or False, not 'no'",
    'columns=[Column("A", path=3)]': "the column A: path is to be a text, not 3",
    'columns=[Column("A", path="spec.x", description=3)]': "the column A: description is to be a text, not 3",
    'columns=[Column("A", condition="Ready", show="reasn")]': (
        """the column A: show is to be "status", "reason" or "message", not 'reasn'; did you mean 'reason'?"""
    ),
    'columns=[Column("A", path="spec.x", type="text")]': (
        """the column A: type is to be "string", "integer", "number", "boolean" or "date", not 'text'"""
    ),
    'columns=[Column("A", path="spec.x", priority=2**31)]': "the column A: priority is to be 0 or more, not 2147483648",
    'scale=Scale(spec="spec.x", status=3)': "scale: status is to be a text, not 3",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Give what is said about each case."""
    cases = {field: ("", field, "") for field in FIELDS}
    cases |= {above: (above, "x: int = 1", "") for above in ABOVE}
    cases |= {options: ("", "x: int = 1", options) for options in OPTIONS}
    texts = {
        case: PARTS + SPEC.format(above=above, field=field) + KIND.format(kind="Thing", options=options)
        for case, (above, field, options) in cases.items()
    }
    return told_of_each(tmp_path_factory.mktemp("arguments"), texts)


@pytest.mark.parametrize("field", FIELDS)
def test_fields(said: Mapping[str, list[str]], field: str) -> None:
    """What a marker or a type can't be given is told once, at the field."""
    (problem,) = said[field]
    subject, _, message = problem.partition(": ")[2].partition(": ")
    assert subject.rstrip("[]{}") == "Spec.x"
    assert message == FIELDS[field]


@pytest.mark.parametrize("above", ABOVE)
def test_classes(said: Mapping[str, list[str]], above: str) -> None:
    """So is what stands above a dataclass."""
    (problem,) = said[above]
    assert problem.endswith(f": Spec: {ABOVE[above]}")


@pytest.mark.parametrize("options", OPTIONS)
def test_options(said: Mapping[str, list[str]], options: str) -> None:
    """So is what @resource can't be given, at its line."""
    (problem,) = said[options]
    line = (IMPORTS + PARTS + SPEC + KIND).splitlines().index("@resource(**options)") + 1
    assert problem.endswith(f".py:{line}: Thing: {OPTIONS[options]}")


@pytest.mark.parametrize("decorator", ["mark", "cel", "at_most_one_of", "exactly_one_of", "at_least_one_of"])
def test_decorator_without_brackets(tmp_path: Path, decorator: str) -> None:
    """A decorator that was given the class alone says so, where it would do nothing or lose the class."""
    text = f"@{decorator}\n@dataclass\nclass Spec:\n    x: str\n"
    with pytest.raises(LoadError, match=rf"@{decorator} takes brackets, with what it says of Spec: @{decorator}\("):
        read(tmp_path, {"api/kind.py": IMPORTS + text})


def test_every_field_that_cannot_be_read(tmp_path: Path) -> None:
    """All hints of a dataclass that name nothing are told, each at its field."""
    fields = 'x: Pth\n    y: str = ""\n    z: list[Nothing]'
    first, second = told(tmp_path, SPEC.format(above="", field=fields) + KIND.format(kind="Thing", options=""))
    assert ": Spec.x: a type hint says Pth, which the module does not define" in first
    assert ": Spec.z: a type hint says Nothing, which the module does not define" in second


def test_selectable_inside_of_lists_alone(tmp_path: Path) -> None:
    """A selectable field of a dataclass that only lists and dicts hold is told at the field."""
    (problem,) = told(
        tmp_path, PARTS + SPEC.format(above="", field="x: list[Place]") + KIND.format(kind="A", options="")
    )
    assert ": Place.zone: no selector reaches it inside of a list or dict" in problem


def test_selectable_also_outside_of_lists(tmp_path: Path) -> None:
    """One that is reached elsewhere stays, with the path that leads there."""
    spec = SPEC.format(above="", field="x: list[Place]\n    place: Place")
    kind = read_kind(tmp_path, PARTS + spec + KIND.format(kind="A", options=""))
    assert kind.selectable == (".spec.place.zone",)


def test_generic_without_end(tmp_path: Path) -> None:
    """A generic that holds itself with ever longer arguments ends in a message, not in the reader."""
    (problem,) = told(
        tmp_path, PARTS + SPEC.format(above="", field="x: Grown[str]") + KIND.format(kind="A", options="")
    )
    assert ": Grown.more: it can't be read: " in problem
    assert "there are more than 128 types within each other; write Any for an inner one" in problem


def test_deepest_nesting(tmp_path: Path) -> None:
    """As many dataclasses as are allowed within each other are read."""
    parts = "".join(f"@dataclass\nclass C{n}:\n    x: {f'C{n - 1}' if n else 'str'}\n" for n in range(126))
    kind = read_kind(tmp_path, parts + SPEC.format(above="", field="x: C125") + KIND.format(kind="A", options=""))
    assert json.dumps(to_mapping(kind_schema(kind))).count('"x"') == 2 * 127


def test_resource_twice(tmp_path: Path) -> None:
    """One class is one version: a second @resource above it is refused."""
    text = SPEC.format(above="", field="x: int = 1") + KIND.format(kind="A", options="")
    (problem,) = told(tmp_path, text.replace("@resource", f"{AGAIN}@again\n@resource", 1))
    assert problem.endswith(": Thing: @resource stands above it twice; remove one")


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    """The way out of a circle of imports is told."""
    modules = {"api/one.py": "from acme.api.two import B\nA = 1\n", "api/two.py": "from acme.api.one import A\nB = 1\n"}
    with pytest.raises(LoadError) as caught:
        read(tmp_path, modules)
    assert caught.value.hint == "the two modules import each other: move what both need into a third"


@pytest.mark.parametrize("field", ["str: str = ''", "list: list[int] = field(default_factory=list)"])
def test_field_that_hides_a_type(tmp_path: Path, field: str) -> None:
    """A default under the name of a type is what the hints of other fields would find."""
    name = field.partition(":")[0]
    spec = SPEC.format(above="", field=f"{field}\n    x: {name} | None = None")
    (problem,) = told(tmp_path, spec + KIND.format(kind="A", options=""))
    said = f"it hides the type {name} from the fields beside it; write {name}_, which is {name} in YAML"
    assert problem.endswith(f": Spec.{name}: {said}")


def test_classes_of_one_name(tmp_path: Path) -> None:
    """Dataclasses that share module and name, as a function makes them, are told apart."""
    made = """\
def made(hint):
    return make_dataclass("Part", [("x", hint)], namespace={"__module__": __name__})

First, Second = made(str), made(bool)

@dataclass
class Again:
    x: str

Old = Again

@dataclass
class Again:
    x: bool
"""
    fields = "a: First\n    b: Second\n    c: Old\n    d: Again"
    text = "from dataclasses import make_dataclass\n" + made + SPEC.format(above="", field=fields)
    kind = read_kind(tmp_path, text + KIND.format(kind="A", options=""))
    spec = to_mapping(kind_schema(kind))["properties"]["spec"]["properties"]
    types = {name: spec[name]["properties"]["x"]["type"] for name in spec}
    assert types == {"a": "string", "b": "boolean", "c": "string", "d": "boolean"}


def test_field_named_as_a_type_that_no_hint_names(tmp_path: Path) -> None:
    """Such a name hides nothing where no field is of that type."""
    spec = SPEC.format(above="", field="bytes: int = 1\n    set: str = ''")
    kind = read_kind(tmp_path, spec + KIND.format(kind="A", options=""))
    assert [field.json_name for field in kind.root.fields[0].type.fields] == ["bytes", "set"]


@pytest.mark.parametrize(
    ("hint", "advice"),
    [
        ("Later", "define it there, or import it"),
        ("List[str]", "did you mean list?"),
        ("flot", "did you mean float?"),
    ],
)
def test_what_a_hint_may_have_meant(tmp_path: Path, hint: str, advice: str) -> None:
    """A name that nothing defines is no function of Python that looks like it."""
    (problem,) = told(tmp_path, SPEC.format(above="", field=f"x: {hint}") + KIND.format(kind="A", options=""))
    assert problem.endswith(f"which the module does not define when it runs; {advice}")


def test_parameters_of_a_type(tmp_path: Path) -> None:
    """Beside a hint that can't be read, those that name the class's own parameters (PEP 695) are known."""
    spec = SPEC.format(above="", field="x: Own\n    y: Nothing")
    params = "Spec.__type_params__ = (TypeVar('Own'),)\n"
    first, second = told(tmp_path, spec + params + KIND.format(kind="A", options=""))
    assert ": Spec.x: the type Own has no schema; name a type where the class is used" in first
    assert ": Spec.y: a type hint says Nothing" in second
