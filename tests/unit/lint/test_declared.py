"""lint-crd checks what Python code declares, and tells of the lines that declare it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from pyopscaffold.cli.app import run
from pyopscaffold.loader import project as project_file
from pyopscaffold.model.project import Project
from tests.unit.loader.projects import IMPORTS, make

SHARED = (
    IMPORTS
    + '''
@dataclass(kw_only=True)
class Place:
    """Where it is."""

    street: str = ""
    """Street and number."""
'''
)
THING = (
    IMPORTS
    + '''
from acme.api.shared import Place

@dataclass(kw_only=True)
class ThingSpec:
    """What it
    is to be."""

    size: Annotated[int32, Ge(1)] = 1
    first_name: str = ""
    """Its name,

    in two paragraphs."""
    places: list[Place] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec
'''
)


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the package of a project with a kind whose spec has a class of another file; its root is the cwd."""
    project = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="0.1.0")
    (tmp_path / "PROJECT").write_text(project_file.dump(project))
    make(tmp_path, {"api/thing.py": THING, "api/shared.py": SHARED})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    return tmp_path / "acme"


def found(capsys: pytest.CaptureFixture[str], *options: str, path: str = "acme") -> set[tuple[str, str, str]]:
    """Check, and return the file, the text of the line, and the rule of each finding."""
    run(["lint-crd", path, "-f", "github", *options])
    places = re.findall(r"file=([^,]+),line=(\d+),col=(\d+),title=(\w+)", capsys.readouterr().out)
    lines = {file: Path(file).read_text().splitlines() for file, *_ in places}
    return {(file, lines[file][int(line) - 1][int(column) - 1 :], rule) for file, line, column, rule in places}


def test_lines_of_fields(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A finding stands at the field's line, in the file of its class; one of the kind stands at the class."""
    assert acme.is_dir()
    assert found(capsys, "--select", "VA01,UX03") == {
        ("acme/api/thing.py", 'first_name: str = ""', "VA01"),
        ("acme/api/thing.py", "labels: dict[str, str] = field(default_factory=dict)", "VA01"),
        ("acme/api/shared.py", 'street: str = ""', "VA01"),
        ("acme/api/thing.py", "class Thing(Object):", "UX03"),
    }
    assert found(capsys, "--select", "VA01", path="acme/api/shared.py") == set()
    assert len(found(capsys, "--select", "VA01", path="acme/api/thing.py")) == 3


def test_a_package_and_a_module_in_it(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What two of the paths lead to is told once."""
    assert acme.is_dir()
    run(["lint-crd", "acme", "acme/api/thing.py", "-f", "github", "--select", "VA01"])
    assert capsys.readouterr().out.count("title=VA01") == 3


def test_comments(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Comments hide findings of a field, or of a whole class; what hides nothing is told at the comment."""
    thing, shared = acme / "api" / "thing.py", acme / "api" / "shared.py"
    comment = "# lint-crd: ignore[VA01] any text is right"
    thing.write_text(
        thing.read_text()
        .replace('first_name: str = ""', f'first_name: str = ""  {comment}')
        .replace("    labels:", f"    {comment}\n    labels:")
        .replace("size: Annotated[int32, Ge(1)] = 1", f"size: Annotated[int32, Ge(1)] = 1  {comment}")
    )
    shared.write_text(shared.read_text().replace("class Place:", f"class Place:  {comment}"))
    assert found(capsys, "--select", "VA01,LC") == {("acme/api/thing.py", comment, "LC01")}


def test_comment_of_a_class_in_no_crd(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A suppression in a class that no checked CRD has is not said to hide nothing."""
    shared = acme / "api" / "shared.py"
    other = (
        SHARED.partition("@dataclass")[2].replace("Place", "Other").replace('""\n', '""  # lint-crd: ignore[VA01] x\n')
    )
    shared.write_text(f"{SHARED}\n@dataclass{other}")
    assert {rule for *_, rule in found(capsys, "--select", "VA01,LC")} == {"VA01"}


def test_comment_above_a_decorator(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comment above the decorators of a class is about the class, as one behind its name is."""
    thing, comment = acme / "api" / "thing.py", "# lint-crd: ignore[UX03,UX01] nobody looks at these"
    thing.write_text(THING.replace("@resource", f"{comment}\n@resource"))
    assert {line for _, line, _ in found(capsys, "--select", "UX03,UX01,LC") if "Thing(" in line} == set()
    thing.write_text(THING.replace("class Thing(Object):", f"class Thing(Object):  {comment}"))
    assert {line for _, line, _ in found(capsys, "--select", "UX03,UX01,LC") if "Thing(" in line} == set()


def test_settings_of_a_file(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The configuration of a path holds for the findings in that Python file; one that is named is not excluded."""
    (acme.parent / ".lint-crd.toml").write_text('select = ["VA01"]\n[per-path."**/shared.py"]\nignore = ["VA01"]\n')
    assert {file for file, *_ in found(capsys)} == {"acme/api/thing.py"}
    (acme.parent / ".lint-crd.toml").write_text('select = ["VA01"]\nexclude = ["**/thing.py"]\n')
    assert {file for file, *_ in found(capsys)} == {"acme/api/shared.py"}
    assert {file for file, *_ in found(capsys, path="./acme/api/thing.py")} == {
        "acme/api/shared.py",
        "acme/api/thing.py",
    }


def test_rules_of_one_file(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that is on for one Python file checks what is declared there; suppressions elsewhere are not judged."""
    thing = acme / "api" / "thing.py"
    thing.write_text(THING.replace("Ge(1)] = 1", "Ge(1)] = 1  # lint-crd: ignore[VA02] no text"))
    settings = 'select = ["UX05", "LC"]\n[per-path."**/{}.py"]\nextend-select = ["VA02"]\n'
    (acme.parent / ".lint-crd.toml").write_text(settings.format("shared"))
    assert {(file, rule) for file, _, rule in found(capsys)} == {("acme/api/shared.py", "VA02")}
    (acme.parent / ".lint-crd.toml").write_text(settings.format("thing"))
    assert {(file, rule) for file, _, rule in found(capsys)} == {
        (f"acme/api/{thing.name}", it) for it in ("VA02", "LC01")
    }


def test_code_that_fails(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Code that can't be imported is told with its place, as generate does."""
    (acme / "api" / "thing.py").write_text("import nothing_such\n")
    assert run(["lint-crd", "acme"]) == 2
    assert "acme/api/thing.py:1" in capsys.readouterr().err


def test_other_packages(acme: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A package beside the project's own is a folder like any other: its code is not run."""
    tests = acme.parent / "tests"
    tests.mkdir()
    (tests / "__init__.py").write_text("raise SystemExit(3)\n")
    assert run(["lint-crd", "tests"]) == 2
    assert "no CRD found in tests" in capsys.readouterr().err
    assert run(["lint-crd", "tests/__init__.py"]) == 2
    assert "tests/__init__.py is no part of a project's package" in capsys.readouterr().err
