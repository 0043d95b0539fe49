"""Code that can't be imported, and interpreters that can't be had."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import LoadError
from pyopscaffold.loader import source
from pyopscaffold.loader.interpreter import find_interpreter, start
from pyopscaffold.testing import eventually
from tests.unit.loader.projects import make

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("x = 1\nclass A(:\n", "acme/api/kind.py:2: SyntaxError: invalid syntax", "mend the line"),
        ("import nowhere.at\n", "acme/api/kind.py:1: ModuleNotFoundError: No module named 'nowhere'", "add nowhere to"),
        (
            "from acme.api.knid import A\n",
            "acme/api/kind.py:1: ModuleNotFoundError: No module named 'acme.api.knid'",
            "there is no module acme.api.knid; was it renamed or deleted?",
        ),
        ("def f():\n    return {}['a']\nf()\n", "acme/api/kind.py:2: KeyError: 'a'", "mend the line"),
        (
            "import sys\nsys.exit(3)\n",
            "acme/api/kind.py:2: SystemExit: the module ends the program (3)",
            "a module must",
        ),
        ("import json\njson.loads('x')\n", "acme/api/kind.py:2: JSONDecodeError: Expecting value", "mend the line"),
        ("import os\nprint('bye')\nos._exit(7)\n", "ended with code 7: bye", "modules that can be imported"),
    ],
)
def test_import_failures(tmp_path: Path, text: str, message: str, hint: str) -> None:
    """What failed is told with the line of the project's own code, and a way out."""
    root = make(tmp_path, {"api/kind.py": text})
    with pytest.raises(LoadError) as caught:
        source.read(root, "acme", python=sys.executable)
    assert message in str(caught.value)
    assert caught.value.hint is not None
    assert hint in caught.value.hint


def test_code_that_runs_for_ever_ends_with_the_caller(tmp_path: Path) -> None:
    """Whatever ends the generator, also SIGKILL, leaves no interpreter behind that turns in circles."""
    tell = f"import os\nopen({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}} ')\nwhile True: pass\n"
    root = make(tmp_path, {"api/kind.py": tell})
    call = "import pathlib, sys; from pyopscaffold.loader.source import read; "
    call += "read(pathlib.Path(sys.argv[1]), 'acme', python=sys.executable)"
    with subprocess.Popen([sys.executable, "-c", call, str(root)]) as caller:
        eventually(lambda: (tmp_path / "pid").read_text().endswith(" ") if (tmp_path / "pid").exists() else False)
        caller.kill()
    assert eventually(lambda: not _runs(int((tmp_path / "pid").read_text())))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_no_such_package(tmp_path: Path) -> None:
    """A package that PROJECT names but that is not there is told as such."""
    with pytest.raises(LoadError, match=f"there is no package acme in {tmp_path}"):
        source.read(tmp_path, "acme", python=sys.executable)


def test_runtime_missing(tmp_path: Path) -> None:
    """An environment without the runtime is told, and how to get it."""
    root = make(tmp_path, {"api/kind.py": ""})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / ".venv"], check=True)
    with pytest.raises(LoadError, match=r"\.venv/bin/python does not have the runtime") as caught:
        source.read(root, "acme")
    assert caught.value.hint == (
        "run uv sync in the project, or pip install pyopscaffold-runtime into that environment"
    )


def test_interpreter_that_does_not_start(tmp_path: Path) -> None:
    """A --python that is no program is told in one line."""
    with pytest.raises(LoadError, match=r"/nowhere/python can't be started: No such file or directory"):
        source.read(tmp_path, "acme", python="/nowhere/python")


def _program(path: Path) -> str:
    path.parent.mkdir(parents=True)
    path.touch()
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_order_of_interpreters(tmp_path: Path) -> None:
    """--python goes before the project's .venv, that before VIRTUAL_ENV, and uv comes last."""
    uv = _program(tmp_path / "tools" / "uv")
    environ = {"PATH": str(tmp_path / "tools")}
    assert find_interpreter(tmp_path, environ=environ)[:2] == [uv, "run"]
    active = _program(tmp_path / "active" / "bin" / "python")
    environ["VIRTUAL_ENV"] = str(tmp_path / "active")
    assert find_interpreter(tmp_path, environ=environ) == [active]
    own = _program(tmp_path / ".venv" / "bin" / "python")
    assert find_interpreter(tmp_path, environ=environ) == [own]
    assert find_interpreter(tmp_path, python="python3", environ=environ) == ["python3"]


def test_relative_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative --python is meant from where the user is, not from the project's root."""
    monkeypatch.chdir(tmp_path)
    assert find_interpreter(tmp_path / "project", python="env/bin/python") == [str(tmp_path / "env/bin/python")]


def test_no_interpreter(tmp_path: Path) -> None:
    """Where there is none, the message says what was looked for."""
    with pytest.raises(LoadError, match=r"no \.venv here, no VIRTUAL_ENV set, no uv installed"):
        find_interpreter(tmp_path, environ={"PATH": os.devnull})


def test_controllers_do_not_import_the_http_client(tmp_path: Path) -> None:
    """Reading a reconciler costs no aiohttp, so that generating stays quick."""
    controller = """\
        import sys
        from pyopscaffold.api import controller
        from pyopscaffold.runtime import Context, Reconciler, Result, TerminalError, conditions

        if "aiohttp" in sys.modules:
            raise RuntimeError("aiohttp was imported")
        """
    probe = start(make(tmp_path, {"controllers/thing.py": controller}), "acme", python=sys.executable)
    answer = probe.answer()
    assert answer["controllers"] == []


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (["generate", "--check"], True),
        (["generate", "--chek"], True),
        (["generate", "--python", sys.executable, "--check"], False),
        (["generate", "--help"], False),
        (["version"], False),
    ],
)
def test_interpreter_that_is_started_early(tmp_path: Path, arguments: list[str], *, started: bool) -> None:
    """The interpreter that generate will ask starts once, at once, and ends with the command, also where it fails."""
    root = make(tmp_path, {"api/kind.py": ""})
    (root / "PROJECT").write_text(
        'domain: example.com\nlayout: [python.pyopscaffold.dev/v1]\nprojectName: acme\nversion: "3"\n'
    )
    starts, python = tmp_path / "starts", root / ".venv" / "bin" / "python"
    _program(python)
    python.write_text(f'#!/bin/sh\necho $$ >> {starts}\nexec {sys.executable} "$@"\n')
    done = subprocess.run(
        [sys.executable, "-m", "pyopscaffold", *arguments], cwd=root, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
    if not started:
        assert not starts.exists()
        return
    assert eventually(starts.exists)
    (pid,) = starts.read_text().split()
    assert eventually(lambda: not _runs(int(pid)))
