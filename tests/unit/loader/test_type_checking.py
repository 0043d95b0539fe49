"""Types that a module imports under ``TYPE_CHECKING`` are found when its hints are read, to generate and to run."""

from __future__ import annotations

import importlib
import py_compile
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from threading import Barrier
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

from pyopscaffold.codec import decode, to_mapping
from pyopscaffold.errors import CodecError, DeclarationError, LoadError
from pyopscaffold.generate.crd import crd_of
from pyopscaffold.testing.fake.crds import crd_of as crd_in_process
from tests.unit.loader.projects import make, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

HEAD = """\
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from pyopscaffold.api import MaxLen, Object, resource
"""
SHARED = """\
from __future__ import annotations
from dataclasses import dataclass

@dataclass(kw_only=True)
class Shared:
    \"\"\"What both need.\"\"\"
    name: str
    size: int = 1
"""
KIND = """
@dataclass(kw_only=True)
class Spec:
    one: {0}
    many: Annotated[list[{0}], MaxLen(4)] = field(default_factory=list)
    none: {1} = None

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
LAZY = "from __future__ import annotations\n"
PLAIN = "from acme.api.other import Shared\n"
FORMS = {
    "relative": ("if TYPE_CHECKING:\n    from .other import Shared\n", "Shared"),
    "absolute": ("if typing.TYPE_CHECKING:\n    from acme.api.other import Nothing, Shared\n", "Shared"),
    "renamed": ("if TYPE_CHECKING:\n    from .other import Shared as S\n", "S"),
    "module": ("if TYPE_CHECKING:\n    from . import other\n", "other.Shared"),
    "renamed module": ("if TYPE_CHECKING:\n    import acme.api.other as o\n", "o.Shared"),
    "dotted": ("if TYPE_CHECKING:\n    import acme.nothing\n    import acme.lone\n", "acme.lone.Shared"),
    "dotted below one": ("import acme\nif TYPE_CHECKING:\n    import acme.alone\n", "acme.alone.Shared"),
    "of a package": ("if TYPE_CHECKING:\n    from acme.parts import Shared\n", "Shared"),
    "star": ("if TYPE_CHECKING:\n    from .other import *\n", "Shared"),
    "else": ("if not TYPE_CHECKING:\n    pass\nelse:\n    from .other import Shared\n", "Shared"),
    "elif": ("if not typing:\n    pass\nelif TYPE_CHECKING:\n    from .other import Shared\n", "Shared"),
    "other name": ("from typing import TYPE_CHECKING as TC\nif TC:\n    from .other import Shared\n", "Shared"),
    "own flag": ("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from .other import Shared\n", "Shared"),
    "with more": ("if TYPE_CHECKING and typing:\n    from .other import Shared\n", "Shared"),
    "choice": (
        (
            "if TYPE_CHECKING:\n    try:\n        from gone import Shared\n"
            "    except ImportError:\n        from .other import Shared\n"
        ),
        "Shared",
    ),
    "run time's own": (
        "if TYPE_CHECKING:\n    from gone import Shared\nelse:\n    from .other import Shared\n",
        "Shared",
    ),
    "cycle": ("if TYPE_CHECKING:\n    from .cycle import Shared\n", "Shared"),
}
OTHERS = {
    "api/other.py": SHARED,
    "lone.py": SHARED,
    "alone.py": SHARED,
    "parts/__init__.py": LAZY + "from .inner import Shared\n",
    "parts/inner.py": SHARED,
}


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Leave no module of a test's project behind."""
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


def _kind(imports: str, hint: str, *, lazy: bool, kind: str = "Thing") -> str:
    text = KIND.replace("Thing", kind)
    if lazy:
        return LAZY + HEAD + imports + text.format(hint, f"{hint} | None")
    return HEAD + imports + text.format(f'"{hint}"', f'"{hint} | None"')


def _spec_of(root: Path, modules: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the schema of each kind's spec, sorted by kind."""
    crds = [crd_of([kind]) for kind in read(root, modules).kinds]
    return [crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] for crd in crds]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the schema where the import is an ordinary one."""
    modules = {**OTHERS, "api/kind.py": _kind(PLAIN, "Shared", lazy=True)}
    (spec,) = _spec_of(tmp_path_factory.mktemp("plain"), modules)
    return spec


@pytest.mark.parametrize("lazy", [True, False], ids=["future", "quoted"])
def test_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any], *, lazy: bool) -> None:
    """Each form of such an import gives the CRD of an ordinary import, and the codec reads and writes the same."""
    names = {f"kind{index:02}": form for index, form in enumerate(FORMS)}
    modules = {f"api/{name}.py": _kind(*FORMS[form], lazy=lazy, kind=name.capitalize()) for name, form in names.items()}
    cycle = SHARED + f"\nfrom .kind{len(FORMS) - 1} import Spec\n"
    made = _spec_of(tmp_path, {**OTHERS, **modules, "api/cycle.py": cycle})
    assert dict(zip(FORMS, made, strict=True)) == dict.fromkeys(FORMS, expected)
    monkeypatch.syspath_prepend(tmp_path)
    given = {"one": {"name": "a", "size": 1}, "many": [{"name": "b", "size": 2}]}
    for name, form in names.items():
        module = importlib.import_module(f"acme.api.{name}")
        before = set(vars(module))
        spec = decode(module.Spec, given)
        assert asdict(spec) == {**given, "none": None}, form
        assert to_mapping(spec) == given, form
        assert set(vars(module)) == before, form


def test_only_what_is_needed_is_imported(tmp_path: Path) -> None:
    """What else stands under TYPE_CHECKING may be there for type checkers only."""
    imports = "if TYPE_CHECKING:\n    from gone import Gone\n    import gone.too\n    from .other import Shared\n"
    modules = {**OTHERS, "api/kind.py": _kind(imports, "Shared", lazy=True)}
    assert len(read(tmp_path, modules).kinds) == 1


def test_cyclic_types(tmp_path: Path) -> None:
    """Two modules may take types from each other under TYPE_CHECKING, also those that a base's module imports."""
    other = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .kind import Leaf

@dataclass(kw_only=True)
class Base:
    leaf: Leaf
"""
    kind = """\
from .other import Base
if TYPE_CHECKING:
    from .other import Base as Again

@dataclass(kw_only=True)
class Leaf:
    x: int

@dataclass(kw_only=True)
class Spec(Base):
    again: Again

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
"""
    (spec,) = _spec_of(tmp_path, {"api/other.py": other, "api/kind.py": LAZY + HEAD + kind})
    leaf = {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer", "format": "int64"}}}
    assert spec["properties"]["leaf"] == leaf
    assert spec["properties"]["again"]["properties"] == {"leaf": leaf}


def test_in_quotes_within_a_generic_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]
) -> None:
    """A class that inherits from a generic one says the type in quotes, as Python runs that line."""
    generic = """
T = TypeVar("T")

@dataclass(kw_only=True)
class Both(Generic[T]):
    one: T
    many: Annotated[list[T], MaxLen(4)] = field(default_factory=list)
    none: T | None = None

@dataclass(kw_only=True)
class Spec(Both["Shared"]):
    pass
"""
    kind = generic + KIND[KIND.index("@resource") :]
    imports = FORMS["relative"][0] + "from typing import Generic, TypeVar\n"
    assert _spec_of(tmp_path, {**OTHERS, "api/kind.py": HEAD + imports + kind}) == [expected]
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("acme.api.kind")
    assert decode(module.Spec, {"one": {"name": "a"}}).one.size == 1


def test_read_by_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that meet such a class at once do not disturb each other."""
    make(tmp_path, {**OTHERS, "api/kind.py": _kind(*FORMS["relative"], lazy=True)})
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("acme.api.kind")
    start = Barrier(8)

    def read_one(_: int) -> object:
        start.wait(60)
        return decode(module.Spec, {"one": {"name": "a"}}).one.size

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read_one, range(8))) == [1] * 8


def test_kind_of_a_module_that_only_types_need(tmp_path: Path) -> None:
    """A kind beside a type that is imported so is generated as with an ordinary import."""
    more = SHARED + HEAD + KIND.format("str", "str | None").replace("Thing", "More")
    imports = "if TYPE_CHECKING:\n    from acme.more import Shared\n"
    modules = {"more.py": more, "api/kind.py": _kind(imports, "Shared", lazy=True)}
    assert [kind.gvk.kind for kind in read(tmp_path, modules).kinds] == ["More", "Thing"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is Python 3.12's")
def test_alias_of_such_a_type(tmp_path: Path, expected: dict[str, Any]) -> None:
    """A `type` statement may name it, in another module than the field."""
    alias = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .other import Shared\ntype A = Shared\n"
    kind = _kind("from .alias import A\n", "A", lazy=True)
    assert _spec_of(tmp_path, {**OTHERS, "api/alias.py": alias, "api/kind.py": kind}) == [expected]


def test_in_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zip file has the source too."""
    root = make(tmp_path / "made", {**OTHERS, "api/kind.py": _kind(*FORMS["relative"], lazy=True)})
    with ZipFile(tmp_path / "acme.zip", "w") as packed:
        for file in root.rglob("*.py"):
            packed.write(file, file.relative_to(root))
    monkeypatch.syspath_prepend(tmp_path / "acme.zip")
    module = importlib.import_module("acme.api.kind")
    assert decode(module.Spec, {"one": {"name": "a"}}).one.size == 1


def test_without_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is bytecode only, nobody can look for the import: the message says what to do."""
    root = make(tmp_path, {**OTHERS, "api/kind.py": _kind(*FORMS["relative"], lazy=True)})
    source = root / "acme" / "api" / "kind.py"
    py_compile.compile(str(source), cfile=str(source.with_suffix(".pyc")))
    source.unlink()
    monkeypatch.syspath_prepend(root)
    module = importlib.import_module("acme.api.kind")
    with pytest.raises(CodecError) as caught:
        decode(module.Spec, {})
    assert str(caught.value).endswith(
        "kind.pyc: name 'Shared' is not defined;"
        " import it outside of TYPE_CHECKING: there is no source to look for it there"
    )


FAILING = {
    "no such name": (
        "from .other import Shred",
        r"acme/api/kind.py:8: ImportError: cannot import name 'Shred' from 'acme.api.other'; did you mean Shared?",
    ),
    "no such module": (
        "from .othr import Shred",
        (
            "acme/api/kind.py:8: ModuleNotFoundError: No module named 'acme.api.othr';"
            " there is no module acme.api.othr; was it renamed or deleted?"
        ),
    ),
    "not installed": (
        "import typings.gone as Shred",
        (
            "acme/api/kind.py:8: ModuleNotFoundError: No module named 'typings';"
            " add typings to the dependencies in pyproject.toml and install it (uv sync)"
        ),
    ),
    "broken": ("from acme.broken import Shred", "acme/broken.py:2: ZeroDivisionError: division by zero; mend the line"),
}


@pytest.mark.parametrize("form", FAILING)
def test_import_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """An import that can't be had is told once, at its line; at run time too."""
    statement, said = FAILING[form]
    text = _kind(f"if TYPE_CHECKING:\n    from gone import Gone\n    {statement}\n", "Shred", lazy=True)
    modules = {**OTHERS, "broken.py": "\n1 / 0\n", "api/kind.py": text}
    with pytest.raises(LoadError) as caught:
        read(tmp_path, modules)
    assert f"{caught.value}; {caught.value.hint}".startswith(said)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("acme.api.kind")
    place = said.partition(";")[0]
    with pytest.raises(CodecError) as raised:
        decode(module.Spec, {})
    assert f"{tmp_path}/{place}; " in str(raised.value)


def test_import_that_fails_in_a_fake_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake cluster, which reads declarations in the test's own process, raises what the import raises."""
    make(tmp_path, {"api/kind.py": _kind("if TYPE_CHECKING:\n    from gone import Shred\n", "Shred", lazy=True)})
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("acme.api.kind")
    with pytest.raises(ModuleNotFoundError, match="No module named 'gone'"):
        crd_in_process([module.Thing])


def test_one_failure_among_others(tmp_path: Path) -> None:
    """A module that fails for all is told once, and what follows from it is not told at all."""
    text = _kind("if TYPE_CHECKING:\n    from .broken import Shared\n", "Shared", lazy=True).replace(
        'version="v1"', 'version="v1", columns=[Column("One", path="spec.one.name")]'
    )
    modules = {
        "api/broken.py": "1 / 0\n",
        "api/kind.py": text.replace("import MaxLen", "import Column, MaxLen"),
        "api/bare.py": HEAD + "x: Nothing = 1\n",
    }
    with pytest.raises(DeclarationError) as caught:
        read(tmp_path, modules)
    assert [str(problem).partition(";")[0] for problem in caught.value.problems] == [
        "acme/api/bare.py:5: NameError: name 'Nothing' is not defined",
        "acme/api/broken.py:1: ZeroDivisionError: division by zero",
    ]


def test_bare_hint(tmp_path: Path) -> None:
    """Without quotes it is Python that stumbles; the way out is said."""
    imports, hint = FORMS["relative"]
    text = HEAD + imports + KIND.format(hint, "str | None")
    with pytest.raises(LoadError) as caught:
        read(tmp_path, {**OTHERS, "api/kind.py": text})
    assert str(caught.value) == "acme/api/kind.py:10: NameError: name 'Shared' is not defined"
    assert caught.value.hint == (
        'only type checkers import it: write "Shared" in quotes, or from __future__ import annotations'
    )


def test_definition_for_type_checkers(tmp_path: Path) -> None:
    """What is defined there, and not imported, stays unknown to Python; the line is said."""
    text = _kind("if TYPE_CHECKING:\n    Alias = dict[str, int]\n", "Alias", lazy=True)
    with pytest.raises(DeclarationError) as caught:
        read(tmp_path, {"api/kind.py": text})
    assert str(caught.value.problems[0]).endswith(
        "Spec.one: a type hint says Alias, which the module does not define when it runs;"
        " only type checkers see line 7, which defines it: do so outside of TYPE_CHECKING"
    )
