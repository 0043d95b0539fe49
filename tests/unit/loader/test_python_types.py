"""The forms of Python that an API may be written in: each gives what it says, or is refused with a way out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from pyopscaffold.generate.crd import crd_of, kinds_by_versions
from pyopscaffold.model.schema import kind_schema
from pyopscaffold.schema import to_mapping
from tests.unit.loader.projects import IMPORTS, read, read_kind, told

if TYPE_CHECKING:
    from pathlib import Path

STRING = {"type": "string"}
INT64 = {"type": "integer", "format": "int64"}

RESOURCE = """
@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""


def _properties(root: Path, text: str) -> dict[str, Any]:
    """Return the schemas of the spec's fields."""
    kind = read_kind(root, textwrap.dedent(text) + RESOURCE)
    properties = to_mapping(kind_schema(kind).properties["spec"])["properties"]
    assert isinstance(properties, dict)
    return properties


FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "inheritance": (
        """
        @dataclass(kw_only=True)
        class Base:
            one: str
            two: str

        @dataclass(kw_only=True)
        class Spec(Base):
            two: int
        """,
        {"one": STRING, "two": INT64},
    ),
    "mixins": (
        """
        @dataclass(kw_only=True)
        class Named:
            name: str

        @dataclass(kw_only=True)
        class Sized:
            size: int

        @dataclass(kw_only=True)
        class Spec(Named, Sized):
            own: bool
        """,
        {"name": STRING, "size": INT64, "own": {"type": "boolean"}},
    ),
    "mixin that is no dataclass": (
        """
        class Helper:
            def both(self) -> str:
                return ""

        @dataclass(kw_only=True)
        class Spec(Helper):
            name: str
        """,
        {"name": STRING},
    ),
    "slots": (
        "@dataclass(kw_only=True, slots=True)\nclass Spec:\n    name: str = 'x'\n",
        {"name": {**STRING, "default": "x"}},
    ),
    "frozen": ("@dataclass(kw_only=True, frozen=True)\nclass Spec:\n    name: str\n", {"name": STRING}),
    "positional": (
        "@dataclass\nclass Spec:\n    name: str\n    size: int = 1\n",
        {"name": STRING, "size": {**INT64, "default": 1}},
    ),
    "keyword-only field": (
        "@dataclass\nclass Spec:\n    size: int = 1\n    name: str = field(kw_only=True)\n",
        {"name": STRING, "size": {**INT64, "default": 1}},
    ),
    "field with the name of a type that nobody uses": (
        """
        @dataclass(kw_only=True)
        class Spec:
            set: Annotated[str, Doc("What to set.")] = "x"
            add: str
        """,
        {"set": {**STRING, "default": "x", "description": "What to set."}, "add": STRING},
    ),
    "class variables": (
        """
        from typing import ClassVar

        @dataclass(kw_only=True)
        class Spec:
            shared: ClassVar[int] = 3
            name: str
        """,
        {"name": STRING},
    ),
    "field out of __init__": (
        "@dataclass(kw_only=True)\nclass Spec:\n    name: str\n    cached: str = field(init=False, default='')\n",
        {"name": STRING},
    ),
    "nested generics": (
        """
        T = TypeVar("T")
        U = TypeVar("U")

        @dataclass(kw_only=True)
        class Pair(Generic[T, U]):
            first: T
            second: list[U]

        @dataclass(kw_only=True)
        class Spec:
            pair: Pair[str, Pair[int, bool]]
        """,
        {
            "pair": {
                "type": "object",
                "required": ["first", "second"],
                "properties": {
                    "first": STRING,
                    "second": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["first", "second"],
                            "properties": {
                                "first": INT64,
                                "second": {"type": "array", "items": {"type": "boolean"}},
                            },
                        },
                    },
                },
            }
        },
    ),
    "base that is generic": (
        """
        T = TypeVar("T")

        @dataclass(kw_only=True)
        class Base(Generic[T]):
            one: T
            many: dict[str, T]

        @dataclass(kw_only=True)
        class Spec(Base[Annotated[str, MaxLen(3)]]):
            own: int
        """,
        {
            "one": {**STRING, "maxLength": 3},
            "many": {"type": "object", "additionalProperties": {**STRING, "maxLength": 3}},
            "own": INT64,
        },
    ),
    "parameters that postponed hints name": (
        """
        T = TypeVar("T")

        @dataclass(kw_only=True)
        class Ref(Generic[T]):
            to: T

        # What class Ref[T] leaves behind (PEP 695): T is another one to the module, or none.
        Ref.__type_params__ = (T,)
        T = bool

        @dataclass(kw_only=True)
        class Spec(Ref[str]):
            other: Ref[int]
        """,
        {"to": STRING, "other": {"type": "object", "required": ["to"], "properties": {"to": INT64}}},
    ),
    "parameters with a default": (
        """
        from typing_extensions import TypeVar

        T = TypeVar("T", default=str)

        @dataclass(kw_only=True)
        class Ref(Generic[T]):
            to: list[T]

        @dataclass(kw_only=True)
        class Spec(Ref):
            pass
        """,
        {"to": {"type": "array", "items": STRING}},
    ),
    "new types and aliases": (
        """
        from typing import NewType, TypeAlias

        Name = NewType("Name", str)
        Names: TypeAlias = list[Name]

        @dataclass(kw_only=True)
        class Spec:
            name: Name
            names: Names
        """,
        {"name": STRING, "names": {"type": "array", "items": STRING}},
    ),
    "tuples and sequences": (
        """
        from collections.abc import Mapping, MutableMapping, Sequence

        @dataclass(kw_only=True)
        class Spec:
            some: tuple[str, ...]
            more: Sequence[str]
            table: Mapping[str, int]
            other: MutableMapping[str, int]
            unique: frozenset[str]
        """,
        {
            "some": {"type": "array", "items": STRING},
            "more": {"type": "array", "items": STRING},
            "table": {"type": "object", "additionalProperties": INT64},
            "other": {"type": "object", "additionalProperties": INT64},
            "unique": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
        },
    ),
    "enums": (
        """
        class Mode(StrEnum):
            ON = "on"
            OFF = "off"

        class Level(IntEnum):
            LOW = 1
            HIGH = 2

        @dataclass(kw_only=True)
        class Spec:
            mode: Mode = Mode.ON
            level: Level
            modes: list[Mode]
        """,
        {
            "mode": {**STRING, "enum": ["on", "off"], "default": "on"},
            "level": {**INT64, "enum": [1, 2]},
            "modes": {"type": "array", "items": {**STRING, "enum": ["on", "off"]}},
        },
    ),
    "optional": (
        """
        from typing import Optional, Union

        @dataclass(kw_only=True)
        class Spec:
            one: Optional[str] = None
            two: Union[str, int, None] = None
        """,
        {
            "one": STRING,
            "two": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_form(tmp_path: Path, name: str) -> None:
    """A form of Python gives just the fields that it says."""
    text, properties = FORMS[name]
    assert _properties(tmp_path, text) == properties


def test_types_of_other_modules_and_packages(tmp_path: Path) -> None:
    """Types may come from another module of the project, and from a package beside it."""
    (tmp_path / "shared_types.py").write_text(IMPORTS + "@dataclass(kw_only=True)\nclass Far:\n    name: str\n")
    (kind,) = read(
        tmp_path,
        {
            "types.py": IMPORTS + "@dataclass(kw_only=True)\nclass Near:\n    size: int\n",
            "api/kind.py": f"{IMPORTS}from acme.types import Near\nfrom shared_types import Far\n"
            f"@dataclass(kw_only=True)\nclass Spec:\n    near: Near\n    far: Far\n{RESOURCE}",
        },
    ).kinds
    properties = kind_schema(kind).properties["spec"].properties
    assert {name: sorted(schema.properties) for name, schema in properties.items()} == {
        "near": ["size"],
        "far": ["name"],
    }


def test_without_postponed_annotations(tmp_path: Path) -> None:
    """A module that evaluates its annotations gives the same."""
    text = IMPORTS.replace("from __future__ import annotations\n", "")
    (kind,) = read(
        tmp_path, {"api/kind.py": f"{text}@dataclass(kw_only=True)\nclass Spec:\n    a: int\n{RESOURCE}"}
    ).kinds
    assert to_mapping(kind_schema(kind).properties["spec"])["properties"] == {"a": INT64}


def test_a_version_that_inherits_another(tmp_path: Path) -> None:
    """v2(v1) in a module of its own shares v1's fields, but not its columns, short names or place."""
    v1 = """
    @dataclass(kw_only=True)
    class Spec:
        name: str

    @resource(group="example.com", version="v1", short_names=["th"], columns=[Age()])
    @dataclass(kw_only=True)
    class Thing(Object):
        spec: Spec
    """
    v2 = """
    from acme.api.v1 import Thing as ThingV1

    @resource(group="example.com", version="v2", short_names=["th"], storage=False)
    @dataclass(kw_only=True)
    class Thing(ThingV1):
        '''The next one.'''
    """
    texts = {"api/v1.py": v1, "api/v2.py": v2}
    model = read(tmp_path, {path: IMPORTS + textwrap.dedent(text) for path, text in texts.items()})
    first, second = model.kinds
    assert kind_schema(second).properties["spec"] == kind_schema(first).properties["spec"]
    assert (len(first.columns), len(second.columns)) == (1, 0)
    (versions,) = kinds_by_versions(model)
    crd = crd_of(versions)["spec"]
    assert [(item["name"], item["served"], item["storage"]) for item in crd["versions"]] == [
        ("v1", True, True),
        ("v2", True, False),
    ]


def test_several_groups_and_scopes(tmp_path: Path) -> None:
    """Kinds of one name, or of one plural, in several groups are several CRDs, each with its scope."""
    text = """
    @resource(group="{group}.example.com", version="v1", kind="{kind}", plural="things", scope="{scope}")
    @dataclass(kw_only=True)
    class Thing(Object):
        pass
    """
    modules = {
        f"api/{group}.py": IMPORTS + textwrap.dedent(text.format(group=group, kind=kind, scope=scope))
        for group, kind, scope in [
            ("a", "Thing", "Cluster"),
            ("b", "Thing", "Namespaced"),
            ("c", "Other", "Namespaced"),
        ]
    }
    crds = [crd_of(versions) for versions in kinds_by_versions(read(tmp_path, modules))]
    assert [(crd["metadata"]["name"], crd["spec"]["scope"]) for crd in crds] == [
        ("things.a.example.com", "Cluster"),
        ("things.b.example.com", "Namespaced"),
        ("things.c.example.com", "Namespaced"),
    ]


def test_no_module_is_executed_twice(tmp_path: Path) -> None:
    """Reading a project runs each of its modules once, however they import each other."""
    note = "import pathlib\npathlib.Path(__file__).with_suffix('.runs').open('a').write('x')\n"
    modules = {
        "shared.py": note,
        "api/one.py": f"{IMPORTS}{note}import acme.api.two\nfrom acme import shared\nclass Spec: pass\n",
        "api/two.py": f"{IMPORTS}{note}import acme.api.one\nfrom acme import shared\n",
        "api/deep/three.py": f"{IMPORTS}{note}from ..one import Spec\n"
        "@resource(group='example.com', version='v1')\n@dataclass(kw_only=True)\nclass Thing(Object):\n    pass\n",
    }
    assert len(read(tmp_path, modules).kinds) == 1
    assert {path.stem: path.read_text() for path in tmp_path.rglob("*.runs")} == dict.fromkeys(
        ("shared", "one", "two", "three"), "x"
    )


def test_a_skipped_kind_is_not_generated(tmp_path: Path) -> None:
    """A kind with skip=True, here of a group that is Kubernetes' own, is no kind of the project."""
    text = """
    @resource(group="gateway.networking.k8s.io", version="v1", kind="Gateway", skip=True)
    @dataclass(kw_only=True)
    class Gateway(Object):
        pass
    """
    assert read(tmp_path, {"api/kind.py": IMPORTS + textwrap.dedent(text)}).kinds == ()


def test_a_base_that_only_looks_like_a_dataclass(tmp_path: Path) -> None:
    """Fields of a base without @dataclass would be lost in silence, so it is told; its class variables are its own."""
    (said,) = told(
        tmp_path,
        """\
        from typing import ClassVar

        class Plain:
            seen: ClassVar[int] = 0
            size: int = 1

        @dataclass(kw_only=True)
        class Spec(Plain):
            name: str

        @resource(group="example.com", version="v1")
        @dataclass(kw_only=True)
        class Thing(Object):
            spec: Spec
        """,
    )
    message = "Plain is no dataclass, so its size is no field; put @dataclass(kw_only=True) above it"
    assert said.partition(": ")[2] == f"Spec: {message}"
