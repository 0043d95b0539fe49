"""What controller-gen writes for Go types, what we write for Python types, and how the two are compared."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold import generate
from pyopscaffold.loader import source
from pyopscaffold.model.project import Project
from tests.tools_path import tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.model.kinds import ProjectModel

DATA = Path(__file__).with_name("testdata")

Documents = dict[str, list[dict[str, Any]]]
"""The documents of each file, by its name."""

OURS_TO_WORD = ("apiVersion", "kind", "metadata", "conditions")
"""Fields whose descriptions are Kubernetes' own words there and ours here."""

ABSENT = "absent"


def theirs(folder: Path, paths: list[str], *generators: str) -> Documents:
    """Run controller-gen's generators, such as ``crd:allowDangerousTypes=true``, on Go packages."""
    options = [*generators, *(f"paths={path}" for path in paths), f"output:dir={folder}"]
    subprocess.run([tool("controller-gen"), *options], cwd=DATA / "go", check=True)
    return {path.name: _loaded(path.read_text(encoding="utf-8")) for path in folder.iterdir()}


def ours(package: str, **settings: Any) -> Documents:
    """Generate everything for a Python package; ``settings`` are attributes of its Project."""
    plain = Project(domain="example.com", name=package, package=package, image=package, cli_version="")
    made = generate.artefacts(_model(package), replace(plain, **settings), {})
    return {Path(item.path).name: _loaded(item.text) for item in made if item.path.startswith("config/")}


@cache
def _model(package: str) -> ProjectModel:
    return source.read(DATA / "python", package, python=sys.executable)


def _loaded(text: str) -> list[dict[str, Any]]:
    return list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def comparable(crd: dict[str, Any]) -> dict[str, Any]:
    """Return a CRD without what differs in all: the version of controller-gen, and Kubernetes' own descriptions."""
    annotations = crd["metadata"].get("annotations", {})
    annotations.pop("controller-gen.kubebuilder.io/version", None)
    if not annotations:
        crd["metadata"].pop("annotations", None)
    for version in crd["spec"]["versions"]:
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        status = properties.get("status", {}).get("properties", {})
        for name in OURS_TO_WORD:
            drop_descriptions({**status, **properties}.get(name))
    _sort_rules(crd)
    return crd


def _sort_rules(node: Any) -> None:
    """Sort the rules of every schema: all must hold, and controller-gen's own order changes from run to run."""
    if isinstance(node, dict):
        node.get("x-kubernetes-validations", []).sort(key=lambda rule: rule["rule"])
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _sort_rules(child)


def drop_descriptions(node: Any) -> None:
    """Remove the descriptions of a schema and of all below it."""
    if isinstance(node, dict) and isinstance(node.get("description"), str):
        del node["description"]
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        drop_descriptions(child)


def differences(left: Any, right: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the JSON path of every difference, with both values; ``ABSENT`` where there is none."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted({*left, *right}):
            yield from differences(left.get(name, ABSENT), right.get(name, ABSENT), f"{path}.{name}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right, strict=True)):
            yield from differences(*pair, f"{path}[{index}]")
    elif left != right or type(left) is not type(right):
        yield path, left, right
