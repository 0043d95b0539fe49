"""``pyopscaffold generate`` writes, shows and checks."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from pyopscaffold import loader
from pyopscaffold.cli.app import run
from pyopscaffold.loader import project as project_file
from pyopscaffold.model.project import Project
from tests.unit.loader.projects import IMPORTS, make

THING = (
    IMPORTS
    + """
@dataclass(kw_only=True)
class ThingSpec:
    size: Annotated[int32, Ge(1)] = 1

@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: ThingSpec
"""
)
CRD = "config/crd/bases/example.com_things.yaml"
SAMPLE = "config/samples/v1_thing.yaml"
LIST = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n# Mine.\nresources: []\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project with one kind, from a folder in it."""
    project = Project(domain="example.com", name="acme", package="acme", image="acme", cli_version="0.1.0")
    (tmp_path / "PROJECT").write_text(project_file.dump(project))
    make(tmp_path, {"api/thing.py": THING})
    for folder in ("crd", "rbac", "samples"):
        (tmp_path / "config" / folder).mkdir(parents=True)
        (tmp_path / "config" / folder / "kustomization.yaml").write_text(LIST)
    monkeypatch.chdir(tmp_path / "acme" / "api")
    return tmp_path


def generate(*options: str) -> int:
    """Run the command with this interpreter."""
    return run(["generate", "--python", sys.executable, *options])


def _files(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in (root / "config").rglob("*.yaml")}


def test_writes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From any folder of the project, files are made, listed where kustomize looks, and named on stdout."""
    assert generate() == 0
    assert f"create  {CRD}\n" in capsys.readouterr().out
    assert "# Mine.\nresources:\n- bases/example.com_things.yaml\n" in _files(root)["config/crd/kustomization.yaml"]
    assert "- v1_thing.yaml\n" in _files(root)["config/samples/kustomization.yaml"]
    assert "- role.yaml\n" in _files(root)["config/rbac/kustomization.yaml"]


def test_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run changes nothing and says so."""
    generate()
    before = _files(root)
    capsys.readouterr()
    assert generate() == 0
    assert capsys.readouterr() == ("", "9 files are up to date\n")
    assert _files(root) == before


def test_api_without_a_class(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An API that PROJECT keeps though its class is gone is told, with the way out; what others declare is not."""
    entries = "\n".join(
        f"- {{{api}domain: example.com, kind: {kind}, version: v1}}"
        for kind, api in (
            ("Thing", "api: {crdVersion: v1}, "),
            ("Gone", "api: {crdVersion: v1}, "),
            ("Watched", ""),
            ("Foreign", "api: {crdVersion: v1}, external: true, "),
        )
    )
    text = (root / "PROJECT").read_text()
    (root / "PROJECT").write_text(f"{text}resources:\n{entries}\n")
    assert generate() == 0
    line = text.count("\n") + 3
    (told,) = [text for text in capsys.readouterr().err.splitlines() if text.startswith("warning: ")]
    what = "no @resource without skip=True declares Gone v1 of example.com, so it has no CRD"
    way = "remove the entry if the class is gone, or make group, version and kind agree"
    assert told == f"warning: PROJECT:{line}: Gone: {what}; {way}"


def test_check(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--check shows what would change as a diff, exits with 1, and writes nothing."""
    generate()
    source = root / "acme" / "api" / "thing.py"
    source.write_text(source.read_text().replace("Ge(1)", "Ge(0)"))
    before = _files(root)
    capsys.readouterr()
    assert generate("--check") == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"--- a/{CRD}\n+++ b/{CRD}\n")
    assert "-                minimum: 1\n+                minimum: 0\n" in out
    assert err == "1 file differs from what the code says: run pyopscaffold generate\n"
    assert _files(root) == before


def test_check_without_drift(root: Path) -> None:
    """--check exits with 0 where all is as the code says."""
    generate()
    assert generate("--check") == 0


def test_dry_run(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--dry-run names what would be written, and writes nothing."""
    before = _files(root)
    assert generate("--dry-run") == 0
    assert f"create  {CRD}\n" in capsys.readouterr().out
    assert _files(root) == before


def test_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--output json tells the same to programs."""
    assert generate("--output", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert CRD in report["created"]
    assert report["updated"] == [f"config/{folder}/kustomization.yaml" for folder in ("crd", "rbac", "samples")]
    assert (report["deleted"], report["unchanged"], report["warnings"]) == ([], 0, [])


def test_kind_that_is_gone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The generated files of a kind that is gone go too, with their entries; its sample is the user's and stays."""
    generate()
    (root / "acme" / "api" / "thing.py").write_text("")
    capsys.readouterr()
    assert generate() == 0
    assert f"delete  {CRD}\n" in capsys.readouterr().out
    files = _files(root)
    assert sorted(files) == [
        "config/crd/kustomization.yaml",
        "config/rbac/kustomization.yaml",
        "config/rbac/role.yaml",
        "config/samples/kustomization.yaml",
        SAMPLE,
    ]
    assert "things" not in files["config/crd/kustomization.yaml"]
    assert "thing_" not in files["config/rbac/kustomization.yaml"]


def test_files_of_the_user(root: Path) -> None:
    """A sample that the user has changed stays, and a manifest that nobody generated is not taken away."""
    generate()
    (root / SAMPLE).write_text("mine: true\n")
    (root / "config/crd/bases/other.yaml").write_text("mine: true\n")
    assert generate() == 0
    files = _files(root)
    assert files[SAMPLE] == files["config/crd/bases/other.yaml"] == "mine: true\n"


@pytest.mark.parametrize("damage", [b"\xff", b"resources: [\xff]\n"])
def test_a_list_that_is_no_text(root: Path, damage: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    """A kustomization that can't be kept right is told, not passed over."""
    (root / "config/crd/kustomization.yaml").write_bytes(damage)
    assert generate() == 2
    assert capsys.readouterr().err.startswith(
        "error: config/crd/kustomization.yaml:1: not UTF-8 text: save it as UTF-8"
    )
    assert not (root / CRD).exists()


def test_line_ends_of_windows(root: Path) -> None:
    """A list with the line ends of Windows keeps them, and is up to date when it says what it should."""
    path = root / "config/crd/kustomization.yaml"
    path.write_bytes(LIST.replace("\n", "\r\n").encode())
    assert generate() == 0
    assert b"resources:\r\n- bases/example.com_things.yaml\r\n" in path.read_bytes()
    assert generate("--check") == 0


def test_a_file_out_of_reach(root: Path) -> None:
    """A file that can't be read is named, and nothing is written."""
    path = root / "config/crd/kustomization.yaml"
    path.unlink()
    path.symlink_to(path.name)
    assert generate() == 2
    assert not (root / CRD).exists()


def test_problems(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong declarations exit with 2 and one line each, and nothing is written."""
    source = root / "acme" / "api" / "thing.py"
    source.write_text(source.read_text().replace("Ge(1)", "Ge(2)"))
    before = _files(root)
    assert generate() == 2
    line = source.read_text().splitlines().index("    size: Annotated[int32, Ge(2)] = 1") + 1
    assert capsys.readouterr().err == (
        f"error: acme/api/thing.py:{line}: ThingSpec.size: its default is not allowed: 1 is less than 2;"
        f" write = None for no default, or change it\n"
    )
    assert _files(root) == before


def _break(root: Path) -> list[dict[str, object]]:
    """Make mistakes in two modules, and give what is to be told."""
    source = root / "acme" / "api" / "thing.py"
    source.write_text(source.read_text().replace("Ge(1)", "Ge(2)"))
    line = source.read_text().splitlines().index("    size: Annotated[int32, Ge(2)] = 1") + 1
    (root / "acme" / "api" / "other.py").write_text("from pyopscaffold.api import Patern\n")
    default = "its default is not allowed: 1 is less than 2; write = None for no default, or change it"
    name = "cannot import name 'Patern' from 'pyopscaffold.api'; did you mean Pattern?"
    return [
        {"file": "acme/api/other.py", "line": 1, "subject": "ImportError", "message": name},
        {"file": "acme/api/thing.py", "line": line, "subject": "ThingSpec.size", "message": default},
    ]


def _lines(problems: list[dict[str, object]]) -> list[str]:
    return [f"error: {item['file']}:{item['line']}: {item['subject']}: {item['message']}" for item in problems]


def test_several_problems(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every problem has a line of its own, and their number is said."""
    problems = _break(root)
    assert generate() == 2
    assert capsys.readouterr().err.splitlines() == [*_lines(problems), "2 problems"]


def test_problems_as_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--output json tells problems to programs on stdout, and to people on stderr all the same."""
    problems = _break(root)
    assert generate("--output", "json") == 2
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert report["problems"] == problems
    assert report["error"].count("\n") == 1
    assert err.startswith(_lines(problems)[0])
    (root / "PROJECT").write_text("version: '2'\n")
    assert generate("--output", "json") == 2
    report = json.loads(capsys.readouterr().out)
    assert (report["problems"], report["error"]) == ([], "PROJECT:1: version '2' is unknown; it is to be \"3\"")


@pytest.mark.parametrize(("wish", "coloured"), [("", True), ("1", False)])
def test_colours(root: Path, wish: str, *, coloured: bool) -> None:
    """On a terminal the places of problems stand out, unless the user wants no colours."""
    problems = _break(root)
    main, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": wish}
    command = [sys.executable, "-m", "pyopscaffold", "generate", "--python", sys.executable]
    subprocess.run(command, cwd=root, stderr=terminal, env=environment, check=False)
    os.close(terminal)
    said = os.read(main, 10_000).decode()
    os.close(main)
    assert ("\x1b[1macme/api/other.py:1:\x1b[0m " in said) is coloured
    assert (_lines(problems)[0] in said) is not coloured


def test_code_that_does_not_import(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A syntax error exits with 2 and its place."""
    (root / "acme" / "api" / "thing.py").write_text("class A(:\n")
    assert generate() == 2
    assert "error: acme/api/thing.py:1: SyntaxError: invalid syntax\n" in capsys.readouterr().err


def test_outside_of_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no PROJECT above, that is said."""
    monkeypatch.chdir(tmp_path)
    assert generate() == 2
    assert "is not inside a project" in capsys.readouterr().err


def test_max_description(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """PROJECT says how long descriptions may be, in the chart too, so that CI agrees; the option goes before it."""
    source = root / "acme" / "api" / "thing.py"
    source.write_text(source.read_text().replace("class Thing(Object):", 'class Thing(Object):\n    """One. Two."""'))
    chart = root / "charts" / "acme"
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").write_text("name: acme\n")
    assert generate() == 0
    assert "description: One. Two.\n" in _files(root)[CRD]
    assert generate("--max-description", "0") == 0
    assert "description:" not in _files(root)[CRD]
    assert generate("--check") == 1
    file = root / "PROJECT"
    file.write_text(file.read_text().replace("    image: acme\n", "    image: acme\n    maxDescription: 5\n"))
    assert generate() == generate("--check") == 0
    assert "description: One.\n" in _files(root)[CRD]
    in_chart = [path.read_text() for path in chart.rglob("*.yaml") if "CustomResourceDefinition" in path.read_text()]
    assert len(in_chart) == 1
    assert "description: One.\n" in in_chart[0]
    file.write_text(file.read_text().replace("maxDescription: 5", "maxDescription: few"))
    capsys.readouterr()
    assert generate() == 2
    assert "maxDescription is to be a number of bytes, 0 or more, not few\n" in capsys.readouterr().err


def test_docs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reference of the API is made when it is asked for, alone, and is checked alone."""
    assert generate("docs", "--check") == 1
    assert capsys.readouterr().err == "2 files differ from what the code says: run pyopscaffold generate docs\n"
    assert generate("docs") == 0
    assert capsys.readouterr().out == "create  docs/api/README.md\ncreate  docs/api/example.com_v1.md\n"
    assert not (root / CRD).exists()
    assert generate("docs", "--check") == 0


def test_docs_are_kept_fresh(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once there is a reference, generate --check notices where it is out of date, and generate mends it."""
    generate()
    assert not (root / "docs").exists()
    generate("docs")
    assert generate("--check") == 0
    source = root / "acme" / "api" / "thing.py"
    source.write_text(source.read_text().replace("Ge(1)", "Ge(0)"))
    capsys.readouterr()
    assert generate("--check") == 1
    assert "-- at least 1\n+- at least 0\n" in capsys.readouterr().out
    assert generate() == generate("--check") == 0
    source.write_text("")
    assert generate() == 0
    assert not list(root.glob("docs/api/*.md"))


def test_docs_of_the_user(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page of the user's own stays; one that stands in the way is told."""
    (root / "docs" / "api").mkdir(parents=True)
    own = root / "docs" / "api" / "guide.md"
    own.write_text("# Mine\n")
    assert generate() == generate("docs") == generate() == 0
    assert own.read_text() == "# Mine\n"
    (root / "docs" / "api" / "README.md").write_text("# Mine\n")
    capsys.readouterr()
    assert generate("docs") == 2
    assert "docs/api/README.md is in the way" in capsys.readouterr().err


def test_stays_light(root: Path) -> None:
    """Generating where nothing changes loads none of the slow libraries."""
    generate()
    command = [sys.executable, "-X", "importtime", "-m", "pyopscaffold", "generate", "--python", sys.executable]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "yaml" in loaded
    assert loaded.isdisjoint({"aiohttp", "copier", "jinja2", "msgspec", "rich", "ruamel.yaml"})


def test_probe_stays_light(root: Path) -> None:
    """The probe reads a project without the codec, the HTTP client and the YAML library."""
    probe = Path(loader.__file__).with_name("probe") / "__main__.py"
    command = [sys.executable, "-X", "importtime", "-P", str(probe), str(root), "acme"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pyopscaffold.api" in loaded
    assert loaded.isdisjoint({"aiohttp", "msgspec", "yaml", "pyopscaffold.codec"})
