from __future__ import annotations

import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import __version__
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.packaging.conftest import Built

pytestmark = pytest.mark.xdist_group("packaging")
NAMES = ["pyopscaffold", "pyopscaffold_runtime"]


def in_wheel(path: Path) -> dict[str, bytes]:
    """Every file of a wheel, with its contents."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def in_package(path: Path) -> set[str]:
    """Names that a wheel puts under pyopscaffold/."""
    return {name for name in in_wheel(path) if name.startswith("pyopscaffold/")}


def in_sdist(path: Path) -> set[str]:
    """Names in an sdist, without its top folder."""
    with tarfile.open(path) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def in_tree(folder: str) -> set[str]:
    """Files of the work tree that git has or would take."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()}


def in_templates() -> dict[str, bytes]:
    """Every file under templates/, those too that .gitignore would hide."""
    folder = ROOT / "templates"
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_wheels_are_disjoint(built: Built) -> None:
    """No file is in both wheels: uninstalling one must not break the other."""
    tool, runtime = (in_package(built.wheel(name)) for name in NAMES)

    assert not tool & runtime
    assert tool
    assert runtime


def test_wheels_together_hold_every_module(built: Built) -> None:
    """Each file of pyopscaffold/ is in one of the wheels."""
    together = in_package(built.wheel("pyopscaffold")) | in_package(built.wheel("pyopscaffold_runtime"))

    assert {name for name in together if "/_templates/" not in name} == in_tree("pyopscaffold")


def test_the_runtime_has_the_modules_of_an_operator_only(built: Built) -> None:
    """What the runtime's wheel has is what DESIGN gives it; a new module goes to the tool."""
    names = {name.split("/")[1] for name in in_package(built.wheel("pyopscaffold_runtime"))}

    files = {"__init__.py", "__main__.py", "py.typed", "errors.py"}
    assert names == files | {"kube", "schema", "api", "k8s", "codec", "runtime"}


def test_templates_are_shipped_whole(built: Built) -> None:
    """Dot files, `{{ }}` names and all: wheel and sdist have each template, byte for byte."""
    expected = in_templates()
    wheel = in_wheel(built.wheel("pyopscaffold"))
    prefix = "pyopscaffold/_templates/"

    assert {name.removeprefix(prefix): data for name, data in wheel.items() if name.startswith(prefix)} == expected
    assert {f"templates/{name}" for name in expected} <= in_sdist(built.sdist("pyopscaffold"))
    assert any(name.split("/")[-1].startswith(".") for name in expected)
    assert any("{{" in name for name in expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_from_the_sdist_is_the_wheel_from_the_tree(name: str, built: Built, built_from_tree: Built) -> None:
    """An sdist builds the very same wheel, away from the repository."""
    assert in_wheel(built.wheel(name)) == in_wheel(built_from_tree.wheel(name))


@pytest.mark.parametrize("name", NAMES)
def test_no_bytecode_or_caches(name: str, built: Built) -> None:
    """Nothing that running Python leaves behind is shipped."""
    names = in_sdist(built.sdist(name)) | set(in_wheel(built.wheel(name)))

    assert not [entry for entry in names if "__pycache__" in entry or entry.endswith((".pyc", ".orig", "~"))]


@pytest.mark.parametrize("name", NAMES)
def test_licence_is_shipped(name: str, built: Built) -> None:
    """Both wheels carry the licence's whole text."""
    licence = f"{name}-{__version__}.dist-info/licenses/LICENSE"

    assert in_wheel(built.wheel(name))[licence] == (ROOT / "LICENSE").read_bytes()


def test_tool_depends_on_the_runtime_of_its_own_version(built: Built) -> None:
    """The one version of pyopscaffold/__init__.py is in both names and in the tool's dependency."""
    metadata = in_wheel(built.wheel("pyopscaffold"))[f"pyopscaffold-{__version__}.dist-info/METADATA"].decode()

    assert f"\nRequires-Dist: pyopscaffold-runtime=={__version__}\n" in metadata
    assert built.wheel("pyopscaffold_runtime").name.startswith(f"pyopscaffold_runtime-{__version__}-")
