"""``make kubernetes-types``: make pyopscaffold/k8s and the schemas of its types anew from a real API server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.kubernetes_types import classes, openapi, structural, stubs

if TYPE_CHECKING:
    from scripts.kubernetes_types.openapi import Json, Published

ROOT = Path(__file__).resolve().parents[2]
_CODE = "pyopscaffold/k8s"
_SCHEMAS = "pyopscaffold/model/kubernetes"


def files(published: Published) -> dict[str, str]:
    """Return every file that is made, by its path in the repository."""
    schemas = structural.types(published)
    made: dict[str, str] = {}
    for module, found in classes.classes(published, schemas).items():
        prefix = openapi.prefix_of(module)
        own = {name.removeprefix(f"{prefix}."): schemas[name] for name in schemas if openapi.module_of(name) == module}
        made[f"{_CODE}/{module}.py"] = _code(module)
        made[f"{_CODE}/{module}.pyi"] = stubs.Stub(module).text(found)
        made[f"{_CODE}/{module}.json"] = _json(classes.packed(module, found, prefix), depth=2)
        made[f"{_CODE}/{module.partition('/')[0]}/__init__.py"] = _package(module)
        made[f"{_SCHEMAS}/{module.replace('/', '.')}.json"] = _json(own)
    return made


def _code(module: str) -> str:
    head = f'"""Kubernetes\' own types of {module}, as dataclasses."""\n\nfrom __future__ import annotations\n\n'
    imports, others = "from pyopscaffold.k8s._types import lazy\n", ""
    if module == "meta/v1":
        others = ", ".join(sorted(stubs.META))
        imports += f"from pyopscaffold.kube.meta import {others}\n"
    return f"{head}{imports}\n__getattr__, __dir__ = lazy(__name__{', ' if others else ''}{others})\n"


def _package(module: str) -> str:
    return f'"""Kubernetes\' own types of {module.partition("/")[0]}."""\n'


def _json(data: Json, *, depth: int = 1) -> str:
    """Write JSON with one type a line, so that a diff shows what a newer Kubernetes changes."""
    return f"{_lines(data, depth)}\n"


def _lines(data: object, depth: int) -> str:
    if not depth or not isinstance(data, dict) or not data:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return "{\n" + ",\n".join(f"{json.dumps(name)}:{_lines(value, depth - 1)}" for name, value in data.items()) + "\n}"


def main() -> None:
    """Write the files."""
    made = files(openapi.ask_pinned())
    for path, text in made.items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
