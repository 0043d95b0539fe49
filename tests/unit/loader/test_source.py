"""Declarations as they are read."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.kube.builtin import SERVICE, STATEFUL_SET
from pyopscaffold.kube.gvk import GroupVersionKind
from pyopscaffold.model.kinds import EnumType, ListType, MapType, ScalarType, SourceSpan, StructType
from pyopscaffold.model.schema import field_schema
from pyopscaffold.schema import UNSET, to_mapping
from tests.unit.loader.projects import FIRST, IMPORTS, read, read_kind

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.model.kinds import FieldModel, KindModel, ProjectModel

SHAPES = """\
class Size(IntEnum):
    '''Sizes there are.'''

    SMALL = 1
    LARGE = 2

T = TypeVar("T")

@dataclass(kw_only=True)
class Ref(Generic[T]):
    '''Points somewhere.'''

    to: T

@dataclass(kw_only=True)
class Base:
    inherited: str
    '''From the base.'''

@dataclass(kw_only=True)
class Inner:
    limit: int32 = 3
    words: list[str] = field(default_factory=list)

@dataclass(kw_only=True)
class Spec(Base):
    bare: int
    from_: str
    size: Size = Size.LARGE
    literal: Literal["a", "b"] = "a"
    ref: Ref[str]
    refs: list[Ref[int32]] = field(default_factory=list)
    unique: set[str] = field(default_factory=set)
    table: dict[str, list[bool]] = field(default_factory=dict)
    mixed: int | str = 80
    delay: timedelta = timedelta(minutes=5)
    seed: bytes = b"abc"
    same: Inner = field(default_factory=Inner)
    other: Inner = field(default_factory=lambda: Inner(limit=9))
    kept: Annotated[int, NoSchemaDefault()] = 7
    doc: Annotated[str, Doc("In the annotation.")] = "x"

    undocumented: int = 1
    "Documented after all, over"
    bounded: Annotated[str, Len(2, 5)] = "abc"

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    '''A thing.

    With a second paragraph.
    '''

    spec: Spec
"""


@pytest.fixture(scope="module")
def kind(tmp_path_factory: pytest.TempPathFactory) -> KindModel:
    """Give a kind with all shapes of fields."""
    return read_kind(tmp_path_factory.mktemp("shapes"), SHAPES)


@pytest.fixture(scope="module")
def fields(kind: KindModel) -> dict[str, FieldModel]:
    """Give its fields by name."""
    assert kind.spec is not None
    return {field.name: field for field in kind.spec.fields}


def test_kind(kind: KindModel) -> None:
    """Names follow from the class; its docstring describes the kind; it stands where @resource is."""
    assert (kind.gvk, kind.gvk.plural, kind.singular) == (
        GroupVersionKind("example.com", "v1", "Thing"),
        "things",
        "thing",
    )
    assert kind.description == "A thing.\n\nWith a second paragraph."
    line = (IMPORTS + SHAPES).splitlines().index('@resource(group="example.com", version="v1")') + 1
    assert kind.span == SourceSpan("acme/api/kind.py", line)
    assert kind.status is None


def test_places(fields: dict[str, FieldModel]) -> None:
    """A field stands where it is written, an inherited one in its base."""
    lines = (IMPORTS + SHAPES).splitlines()
    for name, text in {"inherited": "    inherited: str", "bare": "    bare: int"}.items():
        assert fields[name].span == SourceSpan("acme/api/kind.py", lines.index(text) + 1)


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("inherited", "From the base."),
        ("doc", "In the annotation."),
        ("undocumented", "Documented after all, over"),
        ("bare", ""),
    ],
)
def test_descriptions(fields: dict[str, FieldModel], name: str, description: str) -> None:
    """The docstring under a field describes it, or its Doc."""
    assert fields[name].description == description


def test_json_names(fields: dict[str, FieldModel]) -> None:
    """JSON names are camelCase; an underscore that dodges a keyword is dropped."""
    assert fields["from_"].json_name == "from"


def test_types(fields: dict[str, FieldModel]) -> None:
    """Python's types become the model's, generics with their arguments."""
    assert fields["bare"].type == ScalarType("integer")
    assert fields["size"].type == EnumType((1, 2), "Sizes there are.")
    assert fields["literal"].type == EnumType(("a", "b"))
    assert fields["table"].type == MapType(ListType(ScalarType("boolean")))
    assert fields["mixed"].type == ScalarType("int-or-string")
    ref, refs = fields["ref"].type, fields["refs"].type
    assert isinstance(ref, StructType)
    assert isinstance(refs, ListType)
    assert isinstance(refs.items, StructType)
    assert [field.type for field in (*ref.fields, *refs.items.fields)] == [ScalarType("string"), ScalarType("integer")]


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("size", 2),
        ("literal", "a"),
        ("mixed", 80),
        ("delay", "5m0s"),
        ("seed", "YWJj"),
        ("same", {}),
        ("other", {"limit": 9}),
        ("refs", UNSET),
        ("table", UNSET),
        ("kept", UNSET),
        ("bare", UNSET),
    ],
)
def test_defaults(fields: dict[str, FieldModel], name: str, default: object) -> None:
    """Defaults are JSON, without what nested defaults say already; empty collections add nothing."""
    assert field_schema(fields[name]).default == default


def test_set_is_a_list_set(fields: dict[str, FieldModel]) -> None:
    """A Python set is a list whose items the server keeps unique."""
    schema = to_mapping(field_schema(fields["unique"]))
    assert schema == {"items": {"type": "string"}, "type": "array", "x-kubernetes-list-type": "set"}


def test_len_is_two_bounds(fields: dict[str, FieldModel]) -> None:
    """Len bounds a string from both sides."""
    schema = field_schema(fields["bounded"])
    assert (schema.min_length, schema.max_length) == (2, 5)


def test_columns_into_metadata_and_conditions(tmp_path: Path) -> None:
    """Paths lead through the types that every object has, and columns are of the types at their end."""
    paths = {
        "metadata.name": (".metadata.name", "string"),
        "metadata.generation": (".metadata.generation", "integer"),
        "metadata.creation_timestamp": (".metadata.creationTimestamp", "date"),
        "status.last.status": (".status.last.status", "string"),
        "status.last.last_transition_time": (".status.last.lastTransitionTime", "date"),
    }
    text = f"""
    @dataclass(kw_only=True)
    class Status:
        last: Condition | None = None

    @resource(group="example.com", version="v1", columns=[Column(path, path=path) for path in {[*paths]}])
    @dataclass(kw_only=True)
    class Thing(Object):
        status: Status = field(default_factory=Status)
    """
    columns = read_kind(tmp_path, textwrap.dedent(text)).columns
    assert {column.name: (column.json_path, column.type) for column in columns} == paths


PROJECT = {
    "api/v1/thing.py": IMPORTS
    + """
@dataclass(kw_only=True)
class Spec:
    x: Annotated[int, Predicate(bool)] = 1

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
""",
    "controllers/base.py": """
class Base:
    async def finalize(self, ctx, obj): ...
""",
    "controllers/thing.py": """
print("a print must not disturb the answer")
from pyopscaffold.api import Watch, controller, rbac
from pyopscaffold.kube.builtin import SECRET, SERVICE, STATEFUL_SET
from acme.api.v1.thing import Thing
from acme.controllers.base import Base

@rbac(groups=["core"], resources=["secrets"], verbs=["list"])
@rbac(urls=["/metrics"], verbs=["get"])
@controller(Thing, owns=[STATEFUL_SET, SERVICE], watches=[Watch(kind=SECRET, map=lambda secret: [])])
class ThingReconciler(Base):
    async def reconcile(self, ctx, thing): ...
""",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ProjectModel:
    """Give a project with a controller."""
    return read(tmp_path_factory.mktemp("project"), PROJECT)


def test_controller(project: ProjectModel) -> None:
    """A controller is read with what it owns, watches and may do; finalize may be inherited."""
    (controller,) = project.controllers
    assert controller.name == "thing"
    assert controller.resource == GroupVersionKind("example.com", "v1", "Thing")
    assert controller.owns == (STATEFUL_SET, SERVICE)
    assert [gvk.kind for gvk in controller.watches] == ["Secret"]
    assert controller.finalizes
    assert [(rule.groups, rule.urls, rule.line) for rule in controller.rbac] == [
        ((("",), (), 8)),
        ((), ("/metrics",), 9),
    ]


def test_warnings(project: ProjectModel) -> None:
    """What is allowed but has a catch is told, and stops nothing."""
    said = [str(warning) for warning in project.warnings]
    assert said == [
        f"acme/api/v1/thing.py:{FIRST + 3}: Spec.x: Predicate has no meaning in a CRD and is left out of it",
        (
            "acme/controllers/thing.py:8: @rbac: it reads every Secret that the role reaches;"
            " limit it by namespace= or resource_names= where you can"
        ),
    ]


def test_kinds_of_others_are_not_ours(tmp_path: Path) -> None:
    """A kind that is imported from elsewhere is used, not generated."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "__init__.py").write_text(PROJECT["api/v1/thing.py"])
    model = read(tmp_path, {"api/kind.py": "from elsewhere import Thing\n"})
    assert model.kinds == ()
