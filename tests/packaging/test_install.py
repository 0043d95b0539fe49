from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pyopscaffold import __version__
from tests.packaging.conftest import run
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.packaging.conftest import Built, Environment

pytestmark = pytest.mark.xdist_group("packaging")

TOOL_ONLY = ["typer", "click", "jinja2", "copier", "ruamel.yaml", "rich"]


def importable(environment: Environment, modules: list[str]) -> list[str]:
    """Those of ``modules`` that ``environment`` has."""
    code = f"""
import importlib.util, json
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
print(json.dumps([name for name in {modules!r} if has(name)]))
"""
    found: list[str] = json.loads(environment.evaluate(code))
    return found


def test_runtime_wheel_alone(environment: Environment, built: Built) -> None:
    """An operator's image needs the runtime's wheel only, and gets none of the tool's libraries by it."""
    environment.install(built.wheel("pyopscaffold_runtime"))

    environment.evaluate("import pyopscaffold.api, pyopscaffold.runtime")
    assert importable(environment, [*TOOL_ONLY, "pyopscaffold.cli", "pyopscaffold.generate"]) == []
    assert (
        environment.evaluate("from pyopscaffold.k8s.apps.v1 import StatefulSet as s; print(s.gvk.plural)")
        == "statefulsets"
    )


def test_declaring_does_not_import_the_client(environment: Environment, built: Built) -> None:
    """Reading a project's types and controllers stays fast: neither api nor runtime imports aiohttp."""
    environment.install(built.wheel("pyopscaffold_runtime"))

    code = "import sys, pyopscaffold.api, pyopscaffold.runtime; print('aiohttp' in sys.modules)"
    assert environment.evaluate(code) == "False"


def test_both_wheels(environment: Environment, built: Built, tmp_path: Path) -> None:
    """From the wheels, the command answers and finds its templates."""
    environment.install(built.wheel("pyopscaffold_runtime"), built.wheel("pyopscaffold"))
    command = environment.folder / "bin" / "pyopscaffold"
    project = tmp_path / "shop"
    project.mkdir()

    assert run(command, "--help", cwd=tmp_path).startswith("Usage: pyopscaffold")
    assert __version__ in run(command, "version", cwd=tmp_path)
    assert __version__ in run(environment.python, "-I", "-m", "pyopscaffold", "version", cwd=tmp_path)
    run(command, "init", "--domain", "example.com", cwd=project)
    assert (project / "PROJECT").is_file()


def test_runtime_alone_has_no_command_line(environment: Environment, built: Built) -> None:
    """`python -m pyopscaffold` says in one line what is missing."""
    environment.install(built.wheel("pyopscaffold_runtime"))
    command = [str(environment.python), "-I", "-m", "pyopscaffold"]

    asked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert asked.returncode == 2
    assert asked.stderr.startswith("error: this is the runtime alone\nhint: ")


def test_pytest_takes_the_plugin_without_a_warning(environment: Environment, built: Built, tmp_path: Path) -> None:
    """A project whose warnings are errors can use the fixtures from the installed wheels."""
    environment.install(built.wheel("pyopscaffold_runtime"), built.wheel("pyopscaffold"), "pytest")

    shown = run(environment.python, "-W", "error", "-m", "pytest", "--fixtures", "-W", "error", cwd=tmp_path)

    assert "api_server [session scope]" in shown


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_editable(installer: str, environment: Environment) -> None:
    """An editable pair is the tree itself: nothing is copied into site-packages."""
    folders: list[str | Path] = ["-e", ROOT / "runtime", "-e", ROOT]
    if installer == "uv":
        environment.install("hatchling")
        environment.install("--no-build-isolation", *folders)
    else:
        environment.install("hatchling", "pip")
        run(environment.python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *folders)

    site = next(environment.folder.glob("lib/python*/site-packages"))
    where = environment.evaluate(
        "import pyopscaffold.kube as a, pyopscaffold.files as b; print(a.__file__, b.__file__)"
    )
    assert where.split() == [str(ROOT / "pyopscaffold" / module / "__init__.py") for module in ("kube", "files")]
    assert not (site / "pyopscaffold").exists()
