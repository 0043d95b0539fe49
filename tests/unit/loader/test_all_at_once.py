"""All that is wrong with a project is told in one run, also where modules can't be imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import DeclarationError, LoadError
from pyopscaffold.loader import source
from tests.unit.loader.projects import FIRST, IMPORTS, make, read, told

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

THING = """\
@resource(group="example.com", version="{version}", kind="Thing", storage={storage})
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
SPEC = "@dataclass(kw_only=True)\nclass Spec:\n    size: {}\n"


def _told(root: Path, modules: Mapping[str, str]) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read(root, modules)
    return [str(problem) for problem in caught.value.problems]


def test_failures_refusals_and_problems(tmp_path: Path) -> None:
    """Modules that fail, decorators that refuse and fields that are wrong are told together, sorted by place."""
    wrong = THING.format(version="v1", storage=True).replace("group=", 'columns=[5], short_names="db", group=')
    controller = """\
from acme.api.b import Thing
from acme.api.e import Part

@rbac(groups=[""], resources=["nodes"], verbs=["get"])
@controller(Thing)
class Reconciler:
    async def reconcile(self, ctx, thing): ...
"""
    modules = {
        "api/a.py": "{}['a']\n",
        "api/b.py": IMPORTS + SPEC.format("Annotated[int, Ge(1)] = 0") + wrong,
        "api/c.py": IMPORTS + SPEC.format("Decimal") + THING.format(version="v1", storage=True),
        "api/d.py": "from pyopscaffold.api import Patern\n",
        "api/e.py": "class Part(:\n",
        "controllers/thing.py": IMPORTS + controller,
        "controllers/other.py": IMPORTS + controller.replace("from acme.api.e import Part", ""),
    }
    assert _told(tmp_path, modules) == [
        "acme/api/a.py:1: KeyError: 'a'; mend the line, then try again",
        (
            f"acme/api/b.py:{FIRST + 2}: Spec.size: its default is not allowed: 0 is less than 1;"
            " write = None for no default, or change it"
        ),
        f"acme/api/b.py:{FIRST + 3}: Thing: columns has 5 in it; write columns=[Column(...), Age()]",
        f"acme/api/b.py:{FIRST + 3}: Thing: short_names is to be a list, not 'db'; write short_names=[\"db\"]",
        f"acme/api/c.py:{FIRST + 2}: Spec.size: the type Decimal has no schema; write Quantity",
        "acme/api/d.py:1: ImportError: cannot import name 'Patern' from 'pyopscaffold.api'; did you mean Pattern?",
        "acme/api/e.py:1: SyntaxError: invalid syntax; mend the line, then try again",
    ]


def test_no_module_runs_twice(tmp_path: Path) -> None:
    """A module that fails is not run again for those that import it, and they are not told to fail."""
    modules = {
        "util.py": "import pathlib\npathlib.Path('runs').open('a').write('x')\n1 / 0\n",
        "api/a.py": "from acme import util\n",
        "api/b.py": "import acme.util\n",
        "api/v1/__init__.py": "from acme.api import a\n",
        "api/v1/c.py": "import acme.api.a\n",
        "controllers/d.py": "from acme.api.v1 import c\nfrom acme import util\n",
    }
    with pytest.raises(LoadError, match=r"^acme/util\.py:3: ZeroDivisionError: division by zero$"):
        read(tmp_path, modules)
    assert (tmp_path / "runs").read_text() == "x"


def test_package_that_fails(tmp_path: Path) -> None:
    """Where a package fails, what lies beside it is read."""
    modules = {"api/v1/__init__.py": "import nowhere\n", "api/v1/a.py": "", "api/v2.py": "x: int = y\n"}
    assert _told(tmp_path, modules) == [
        (
            "acme/api/v1/__init__.py:1: ModuleNotFoundError: No module named 'nowhere'; add nowhere to the"
            " dependencies in pyproject.toml and install it (uv sync)"
        ),
        "acme/api/v2.py:1: NameError: name 'y' is not defined; mend the line, then try again",
    ]


def test_versions_that_are_not_all_there(tmp_path: Path) -> None:
    """What may only be wrong because another module failed is not told."""
    kind = THING.format(version="v1", storage=False)
    modules = {"api/v1.py": IMPORTS + SPEC.format("int") + kind, "api/v2.py": "import sys\nsys.exit(3)\n"}
    with pytest.raises(LoadError, match=r"^acme/api/v2\.py:2: SystemExit: the module ends the program \(3\)$"):
        read(tmp_path, modules)


def test_served_versions_that_differ(tmp_path: Path) -> None:
    """Two served versions that differ need a conversion, which there is not yet; told with all else, if it is sure."""
    modules = {
        "api/v1.py": IMPORTS + SPEC.format("int") + THING.format(version="v1", storage=False),
        "api/v2.py": IMPORTS + SPEC.format("str") + THING.format(version="v2", storage=True),
        "api/v3.py": IMPORTS + SPEC.format("Decimal") + THING.format(version="v3", storage=False),
        "api/v4.py": IMPORTS + SPEC.format("int") + THING.format(version="v4", storage=False),
    }
    assert _told(tmp_path, modules) == [
        (
            f"acme/api/v2.py:{FIRST + 3}: Thing: Thing v2 and v1 are both served and differ, and there is no conversion"
            " between them yet; write served=False on one of them"
        ),
        f"acme/api/v3.py:{FIRST + 2}: Spec.size: the type Decimal has no schema; write Quantity",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "int",
            "Annotated[int, Selectable()]",
            "its fields are those of the other versions; make the same Selectable in",
        ),
        (
            "Annotated[str, Selectable()]",
            "Annotated[int, Selectable()]",
            "all versions differ and have the same Selectable",
        ),
        ("Annotated[int, Selectable()]", "Annotated[int, Selectable()]", ""),
        ("str", "Annotated[int, Selectable()]", ""),
    ],
)
def test_selectable_fields_of_versions(tmp_path: Path, old: str, new: str, said: str) -> None:
    """The server takes the same fields beside one schema of all versions, and other fields beside others only."""
    unserved = THING.format(version="v1", storage=False).replace("storage", "served=False, storage")
    modules = {
        "api/v1.py": IMPORTS + SPEC.format(old) + unserved,
        "api/v2.py": IMPORTS + SPEC.format(new) + THING.format(version="v2", storage=True),
    }
    if not said:
        assert len(read(tmp_path, modules).kinds) == 2
        return
    (problem,) = _told(tmp_path, modules)
    assert problem.startswith(f"acme/api/v2.py:{FIRST + 3}: Thing: {said}")


def test_versions_that_differ_harmlessly(tmp_path: Path) -> None:
    """Versions may differ in their texts, and in what is not served."""
    texts = SPEC.format('Annotated[int, Doc("Its size."), Title("Size")]')
    old = THING.format(version="v3", storage=False).replace("storage", "served=False, storage")
    modules = {
        "api/v1.py": IMPORTS + SPEC.format("int") + THING.format(version="v1", storage=False),
        "api/v2.py": IMPORTS + texts + THING.format(version="v2", storage=True),
        "api/v3.py": IMPORTS + SPEC.format("str") + old,
    }
    assert [kind.gvk.version for kind in read(tmp_path, modules).kinds] == ["v1", "v2", "v3"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "from pyopscaffold.api import Patern",
            "cannot import name 'Patern' from 'pyopscaffold.api': did you mean Pattern?",
        ),
        ("from acme.parts import Prat", "cannot import name 'Prat' from 'acme.parts': did you mean Part?"),
        ("from pyopscaffold import api\nx = api.Patern", "has no attribute 'Patern': did you mean Pattern?"),
        (
            "class A:\n    size = 1\n    def __dir__(self):\n        raise KeyError\nx = A().siez",
            "'A' object has no attribute 'siez': did you mean size?",
        ),
        ("x = Immutable()", "name 'Immutable' is not defined: import it: from pyopscaffold.api import Immutable"),
        ("part = 5\nx = prat + part", "name 'prat' is not defined: did you mean part?"),
        (
            "from pyopscaffold.api import resource\n@resource(group='a', short_name=['a'])\nclass A: ...",
            "resource() got an unexpected keyword argument 'short_name': did you mean short_names?",
        ),
        (
            "from pyopscaffold.api import Column\nx = Column('A', pth='a')",
            "Column.__init__() got an unexpected keyword argument 'pth': did you mean path?",
        ),
        (
            "from pyopscaffold.api import resource\n@resource\nclass A: ...",
            "resource() takes 0 positional arguments but 1 was given: write the arguments by name: resource(group=...)",
        ),
        (
            "from pyopscaffold.api import Scale\nx = Scale('spec.size')",
            "takes 1 positional argument but 2 were given: write the arguments by name: Scale(spec=...)",
        ),
        ("import pyopscaffold.api.resorce", "No module named 'pyopscaffold.api.resorce': did you mean resource?"),
        (
            "import pyopscaffold.k8s.core.v2",
            "No module named 'pyopscaffold.k8s.core.v2': the pyopscaffold that is installed has no such module",
        ),
        ("assert not ['a']", "AssertionError: it says no more: mend the line, then try again"),
        (
            "from pyopscaffold.k8s.core.v1 import ContainerPort\nx = ContainerPort(containerPort=80)",
            "ContainerPort.__init__() got an unexpected keyword argument 'containerPort': did you mean container_port?",
        ),
        (
            "from pyopscaffold.api import CEL\nx = CEL('true', mesage='a')",
            "CEL.__init__() got an unexpected keyword argument 'mesage': did you mean message?",
        ),
    ],
)
def test_what_was_meant(tmp_path: Path, text: str, said: str) -> None:
    """A mistyped name of a marker, a class or an argument is told with the one that was meant."""
    modules = {"api/kind.py": f"{text}\n", "parts.py": "class Part: ...\n"}
    with pytest.raises(LoadError) as caught:
        source.read(make(tmp_path, modules), "acme", python=sys.executable)
    assert f"{caught.value}: {caught.value.hint}".endswith(said)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("acme/api/kind.py", text.count("\n") + 1 - text.endswith("A: ..."))


def test_marker_that_a_hint_misspells(tmp_path: Path) -> None:
    """A marker's name that only a postponed annotation has is told with the one that was meant."""
    said = told(tmp_path, SPEC.format('Annotated[str, Patern("a")]') + THING.format(version="v1", storage=True))
    assert said == [
        (
            f"acme/api/kind.py:{FIRST + 2}: Spec.size: a type hint says Patern, which the module does not define when"
            " it runs; did you mean Pattern?"
        )
    ]


def test_what_stands_beside_a_hint_that_names_nothing(tmp_path: Path) -> None:
    """Other fields of the class are judged, and nothing that speaks of the field is blamed."""
    text = """\
@dataclass(kw_only=True)
class Part:
    size: Nmbr = 5

@dataclass(kw_only=True)
class Rate:
    value: int | float = 1

@cel("self.a != ''", field_path=".a")
@mark(AnyOf({"required": ["a"]}))
@exactly_one_of("a", "b")
@dataclass(kw_only=True)
class Spec:
    a: Txt | None = None
    b: Annotated[int | None, MinLen(1)] = None
    part: Part = field(default_factory=Part)
    rate: Rate = field(default_factory=Rate)

@dataclass(kw_only=True)
class Status:
    conditions: Conditions = field(default_factory=list)
    ready: int32 = 0

@resource(
    group="example.com",
    version="v1",
    columns=[Column("A", path="spec.a.x"), Column("Ready", condition="Ready"), Column("B", path="spec.c")],
    scale=Scale(spec="spec.a", status="status.ready"),
)
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
    status: Sttus = field(default_factory=Status)
"""
    unknown = "which the module does not define when it runs"
    assert [line.split("; ")[0] for line in told(tmp_path, text)] == [
        f"acme/api/kind.py:{FIRST + 2}: Part.size: a type hint says Nmbr, {unknown}",
        f"acme/api/kind.py:{FIRST + 6}: Rate.value: the type int | float has no schema",
        f"acme/api/kind.py:{FIRST + 13}: Spec.a: a type hint says Txt, {unknown}",
        f"acme/api/kind.py:{FIRST + 14}: Spec.b: MinLen can't apply to an integer",
        f'acme/api/kind.py:{FIRST + 23}: Thing: column "B": there is no spec.c: Spec has no field c',
        f"acme/api/kind.py:{FIRST + 32}: Thing.status: a type hint says Sttus, {unknown}",
    ]


def test_a_column_of_conditions_that_cannot_be_read(tmp_path: Path) -> None:
    """That their type names nothing is all that is said: the status has them."""
    text = """\
@dataclass(kw_only=True)
class Status:
    conditions: Cnditions = field(default_factory=list)

@resource(group="example.com", version="v1", columns=[Column("Ready", condition="Ready")])
@dataclass(kw_only=True)
class Thing(Object):
    status: Status = field(default_factory=Status)
"""
    (said,) = told(tmp_path, text)
    assert said.startswith(f"acme/api/kind.py:{FIRST + 2}: Status.conditions: a type hint says Cnditions, which")


def test_byte_that_no_code_has(tmp_path: Path) -> None:
    """A NUL byte is told at its own line, not at that of whoever imports the module."""
    modules = {"api/kind.py": "import acme.parts\n", "parts.py": "x = 1\ny = '\0'\n"}
    with pytest.raises(
        LoadError, match=r"^acme/parts\.py:2: SyntaxError: source code string cannot contain null bytes$"
    ):
        read(tmp_path, modules)


def test_cluster_scoped_kind_in_a_namespaced_project(tmp_path: Path) -> None:
    """A Role can't grant nodes, so a project made with --namespaced may not watch them."""
    controller = """\
NODE = GroupVersionKind("", "v1", "Node", namespaced=False)

@controller(Thing, watches=[Watch(kind=NODE, map=lambda node: [])])
class Reconciler:
    async def reconcile(self, ctx, thing): ...
"""
    text = IMPORTS + SPEC.format("int") + THING.format(version="v1", storage=True) + controller
    root = make(tmp_path, {"api/kind.py": text})
    assert source.read(root, "acme", python=sys.executable).controllers
    with pytest.raises(DeclarationError, match=r"@controller: Node is cluster-scoped, and a project made with"):
        source.read(root, "acme", python=sys.executable, namespaced=True)
