"""``lint-crd --fix`` on dataclasses: the source is edited, and what is generated of it is the fixed CRD."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyopscaffold.cli.app import run
from pyopscaffold.document.reader import Source
from pyopscaffold.lint import declared, fixes
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import Registry, builtin
from pyopscaffold.loader import project as project_file
from pyopscaffold.model.project import Project
from pyopscaffold.scaffold import fixes_in_python
from tests.unit.loader.projects import IMPORTS, make

RULES = {rule.id: rule for rule in builtin()}
WIDGET = RULES["UX02"].bad_class
FILE = Path("acme/api/widget.py")
OPTIONS = ("--fail-on", "info", "--isolated")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work at the root of a project."""
    project = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="0.1.0")
    (tmp_path / "PROJECT").write_text(project_file.dump(project))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)


def write(text: str) -> str:
    """Write the module of the package, and return it."""
    make(Path(), {"api/widget.py": text})
    return text


def with_spec(text: str) -> str:
    """Return a module whose spec has other fields."""
    return IMPORTS + WIDGET.replace('    size: int32 = 0\n    """Number of parts."""\n', text)


def fix(rules: str, *options: str) -> int:
    """Fix what some rules find, and return the exit code: 0 where nothing is left."""
    return run(["lint-crd", "acme", "--fix", "--unsafe-fixes", "--select", rules, *OPTIONS, *options])


def changed(before: str) -> tuple[list[str], list[str]]:
    """Return the lines that are gone, and the new ones."""
    old, new = before.splitlines(), FILE.read_text().splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def generated_text() -> str:
    """Return the CRD of the package."""
    place = declared.project_of("acme")
    assert place
    return next(declared.generated("acme", *place)).text


def normal(text: str) -> Any:
    """Return a CRD without what the generator alone decides: the order of what is required, and a status's default."""

    def ordered(node: Any) -> Any:
        if isinstance(node, dict):
            left = {key: it for key, it in node.items() if (key, it) != ("default", {"observedGeneration": -1})}
            return {key: sorted(it) if key == "required" else ordered(it) for key, it in left.items()}
        return [ordered(it) for it in node] if isinstance(node, list) else node

    return ordered(yaml.safe_load(text))


def generated() -> Any:
    """Return the CRD of the package as data."""
    return normal(generated_text())


def fixed_crd(rule: str) -> Any:
    """Return the CRD of the package, fixed as YAML."""
    rules = Registry((RULES[rule],))
    made = fixes.fix(Source("crd.yaml", generated_text()), lambda it: lint([it], rules).findings, unsafe=True)
    return normal(made.text)


@pytest.mark.parametrize(
    "rule", ["CO01", "CO02", "CO03", "CO04", "CO05", "CO06", "SU01", "SU03", "UX02", "VA03", "VA06"]
)
def test_bad_classes_are_fixed(rule: str) -> None:
    """What is generated anew is the CRD as fixed itself, without a finding, and a second run changes nothing."""
    before = write(IMPORTS + RULES[rule].bad_class)
    expected = fixed_crd(rule)
    assert fix(rule) == 0
    after = FILE.read_text()
    assert after != before
    assert generated() == expected
    assert fix(rule) == 0
    assert FILE.read_text() == after


def test_formatting_stays() -> None:
    """Comments, quotes and odd spaces are kept; only the marker changes, even while an editor has the file open."""
    before = write(with_spec("    zone : Annotated[ str,Pattern('[a-z]+') ]   # 'here'\n    '''Where.'''\n"))
    FILE.with_name(".#widget.py").symlink_to("me@host.1")
    assert fix("VA06") == 0
    assert FILE.read_text() == before.replace("'[a-z]+'", '"^(?:[a-z]+)$"')


def test_integer_format() -> None:
    """The format that holds the bounds takes the place of none."""
    before = write(with_spec('    a: Annotated[int, Format(""), Ge(0), Le(9)] = 0\n'))
    assert fix("VA10") == 0
    assert FILE.read_text() == before.replace('Format("")', 'Format("int32")')


def test_default_of_a_required_field() -> None:
    """It becomes Python's own."""
    before = write(with_spec('    zone: Annotated[str, Default("x")]  # where\n'))
    assert fix("DE02") == 0
    assert changed(before) == (
        ['    zone: Annotated[str, Default("x")]  # where'],
        ['    zone: str = "x"  # where'],
    )


def test_imports_are_added() -> None:
    """A marker that the module does not know yet is imported; a line that gets too long is broken."""
    before = write(
        with_spec("    secret_name: str\n")
        .replace("from pyopscaffold.api import *", "from pyopscaffold.api import Conditions, Object, int64, resource")
        .replace("from typing import Annotated, ", "from typing import ")
    )
    assert fix("VA03") == 0
    gone, new = changed(before)
    assert gone[-1] == "    secret_name: str"
    assert any(line.startswith("from pyopscaffold.api import") and "Pattern" in line for line in new)
    assert any(line.startswith("from typing import") and "Annotated" in line for line in new)
    assert [line.partition("(")[0] for line in new[-5:]] == [
        *("    secret_name: Annotated[", "        str,", "        Pattern", "        MaxLen", "    ]")
    ]


SEVERAL = """\
@dataclass(kw_only=True)
class Part:
    zone: t.Annotated[str, k.Pattern("[a-z]+")] = "a"
    'Of \\'zone\\'.'
    other_secret_name: str
    "otherSecretName of a part."


"""
PLACES = """\
    one: Annotated[Part, Doc("A part.")]
    more: list[Part] = field(default_factory=list)
    ('More '
     'parts.')
"""


def test_fields_of_a_class_that_stands_at_several_places() -> None:
    """They are edited once, by the names that the module has, their descriptions where they stand, in their quotes."""
    text = with_spec(PLACES).replace("@dataclass", f"import typing as t, pyopscaffold.api as k\n{SEVERAL}@dataclass", 1)
    before = write(text)
    assert fix("VA03,VA06,UX02") == 0
    gone, new = changed(before)
    assert not any(line.startswith(("import", "from")) for line in gone)
    assert [line.partition(" = ")[0].partition("(r")[0] for line in new[:9]] == [
        '    zone: t.Annotated[str, k.Pattern("^(?:[a-z]+)$")]',
        "    'zone: Of \\'zone\\'.'",
        *("    other_secret_name: Annotated[", "        str,", "        Pattern", "        MaxLen(253),", "    ]"),
        '    one: Annotated[Part, Doc("one: A part.")]',
        '    """more: More parts."""',
    ]


def test_code_that_is_not_utf8_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Python reads it, and so it is checked; a note says that it is not edited."""
    text = "# -*- coding: latin-1 -*-\n# \xe9\n" + with_spec('    zone: Annotated[str, Pattern("[a-z]+")] = "a"\n')
    write("")
    FILE.write_bytes(text.encode("latin-1"))
    assert fix("VA06") == 1
    assert "VA06 can't be fixed in place" in capsys.readouterr().err
    assert FILE.read_bytes() == text.encode("latin-1")


def test_what_python_can_not_say_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The finding stays, and so does the file; what an alias says is not the field's, which is seen without a try."""
    fields = 'sizes: list[Annotated[int, Format("")]] = field(default_factory=list)\n    zone: Zone | None = None\n'
    text = with_spec(f"    {fields}")
    before = write(text.replace("@dataclass", 'Zone = Annotated[str, Pattern("[a-z]+")]\n\n\n@dataclass', 1))
    monkeypatch.setattr(fixes_in_python, "_generated", lambda *_: pytest.fail("the code was read again"))
    assert fix("VA06,VA10") == 1
    shown = capsys.readouterr().err
    for rule in ("VA06", "VA10"):
        assert f"{rule} can't be fixed in place, as Python has no word for it" in shown
    assert FILE.read_text() == before


def test_code_of_others_stays() -> None:
    """A class from outside the package is not edited, though it is found in the CRD."""
    shared = IMPORTS + '@dataclass(kw_only=True)\nclass Zone:\n    name: Annotated[str, Pattern("[a-z]+")] = "a"\n'
    make(Path(), {"zones.py": shared}, package="others")
    write(with_spec("    zone: Zone\n").replace("@dataclass", "from others.zones import Zone\n@dataclass", 1))
    assert fix("VA06") == 1
    assert Path("others/zones.py").read_text() == shared


def test_suppressed_and_unsafe_stay() -> None:
    """What is suppressed is not touched, nor what only an unsafe fix mends, unless asked for."""
    before = write(
        with_spec(
            '    a: Annotated[str, Pattern("[a-z]+")] = "a"  # lint-crd: ignore[VA06] any part will do\n'
            '    b: Annotated[str, Pattern("[a-z]+")] = "a"\n'
        )
    )
    run(["lint-crd", "acme", "--fix", "--select", "VA06", *OPTIONS])
    assert FILE.read_text() == before
    assert fix("VA06") == 0
    assert changed(before)[0] == ['    b: Annotated[str, Pattern("[a-z]+")] = "a"']


def test_diff(capsys: pytest.CaptureFixture[str]) -> None:
    """It shows the change of the Python file, and makes none."""
    before = write(with_spec('    a: Annotated[int, Format(""), Ge(0), Le(9)] = 0\n'))
    assert run(["lint-crd", "acme", "--diff", "--select", "VA10", *OPTIONS]) == 1
    assert '+    a: Annotated[int, Format("int32"), Ge(0), Le(9)] = 0' in capsys.readouterr().out
    assert FILE.read_text() == before
