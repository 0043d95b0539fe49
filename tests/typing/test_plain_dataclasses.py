"""mypy and pyright see API types as plain dataclasses, each with the types that their fields say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

CASES = sorted(Path(__file__).with_name("cases").glob("*.py"))

WRONG = """\
from typing import assert_type
from pyopscaffold.api import ObjectMeta

assert_type(ObjectMeta().name, bytes)
ObjectMeta(nothing_of_the_kind=1)

from pyopscaffold.k8s.core.v1 import Container, ContainerPort, PodSpeck

Container(image="nginx")
ContainerPort(container_port=80, protocol="HTTP")
"""


def _pyright(folder: Path, *files: Path) -> list[tuple[str, int, str]]:
    """Return the errors of pyright's strict mode as file, line and message."""
    config = folder / "pyrightconfig.json"
    config.write_text(json.dumps({"typeCheckingMode": "strict", "reportPrivateUsage": False}))
    command = [
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "--project",
        str(config),
        *map(str, files),
    ]
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False, cwd=folder)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(item["file"]).name, item["range"]["start"]["line"] + 1, item["message"])
        for item in found
        if item["severity"] == "error"
    ]


def _mypy(*files: Path) -> list[str]:
    """Return the findings of mypy's strict mode."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_mypy_agrees() -> None:
    """Every assert_type of the cases holds for mypy."""
    assert _mypy(*CASES) == []


def test_pyright_agrees(tmp_path: Path) -> None:
    """Every assert_type of the cases holds for pyright."""
    assert _pyright(tmp_path, *CASES) == []


def test_mistakes_are_found(tmp_path: Path) -> None:
    """Both tell a field's wrong type and an argument that is none: neither takes a class for Any."""
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    assert sorted({line for _, line, _ in _pyright(tmp_path, file)}) == [4, 5, 7, 9, 10]
    assert [line.split(":")[1] for line in _mypy(file) if ": error: " in line] == ["4", "5", "7", "9", "10"]
