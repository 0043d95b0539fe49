from __future__ import annotations

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools_path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PACKAGE = ROOT / "pyopscaffold"
NOT_INSTALLED = {*sys.stdlib_module_names, "_typeshed", "pyopscaffold"}
WHERE_ITS_MODULE_RUNS = {"pytest"}  # testing.plugin is imported by pytest itself


def load(path: str) -> dict[str, Any]:
    """Read a TOML file of the repository."""
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def names(requirements: Iterable[str]) -> set[str]:
    """Names of the distributions that ``requirements`` ask for."""
    return {canonicalize_name(Requirement(text).name) for text in requirements}


RUNTIME = load("runtime/pyproject.toml")
RUNTIME_SHARE = {PACKAGE / module for module in RUNTIME["tool"]["hatch"]["build"]["hooks"]["custom"]["modules"]}
RUNTIME_NEEDS = names(RUNTIME["project"]["dependencies"])
RUNTIME_MAY_USE = names(text for extra in RUNTIME["project"]["optional-dependencies"].values() for text in extra)
TOOL_NEEDS = names(load("pyproject.toml")["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"])


def imported(files: Iterable[Path]) -> set[str]:
    """Names of the distributions that ``files`` import from, without the standard library and ourselves."""
    providers = packages_distributions()
    modules = {module for file in files for module in _modules(file)} - NOT_INSTALLED
    found = ({canonicalize_name(name) for name in providers.get(module, [module])} for module in modules)
    # a namespace such as opentelemetry has many providers: what is asked for among them stands for it
    return {name for names in found for name in names & (RUNTIME_NEEDS | RUNTIME_MAY_USE) or names}


def _modules(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def share_of_runtime(path: Path) -> bool:
    """Whether ``path`` is in the runtime's wheel."""
    return bool(RUNTIME_SHARE & {path, *path.parents})


def test_the_runtime_asks_for_what_it_imports() -> None:
    """An operator's image with the runtime's wheel lacks nothing that the runtime imports."""
    files = [path for path in PACKAGE.rglob("*.py") if share_of_runtime(path)]

    assert imported(files) - RUNTIME_NEEDS - RUNTIME_MAY_USE == set()


def test_the_runtime_asks_for_nothing_else() -> None:
    """An operator's image carries no library that the runtime does not import."""
    files = [path for path in PACKAGE.rglob("*.py") if share_of_runtime(path)]

    assert RUNTIME_NEEDS - imported(files) == set()


def test_the_tool_asks_for_what_it_imports() -> None:
    """The tool declares each library that it imports, and does not live off another's dependencies."""
    files = [path for path in PACKAGE.rglob("*.py") if not share_of_runtime(path)]

    assert imported(files) - TOOL_NEEDS - RUNTIME_NEEDS - WHERE_ITS_MODULE_RUNS == set()


def test_the_tool_asks_for_nothing_else() -> None:
    """No library is installed with the tool that it does not import."""
    files = [path for path in PACKAGE.rglob("*.py") if not share_of_runtime(path)]

    assert TOOL_NEEDS - imported(files) == set()
