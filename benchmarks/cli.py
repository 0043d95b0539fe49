"""Times of the command line, each beside what it is held against."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.paired import Result, paired, process

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "mydatabase"
GO_PROJECT = ROOT / "benchmarks" / "go-mydatabase"
CONTROLLER_GEN = ROOT / "build" / "tools" / "controller-gen"
TOOL = str(Path(sys.executable).parent / "pyopscaffold")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": sys.prefix}


def measure_help() -> Result:
    """``--help`` over the one import that it can't do without."""
    base, shown = paired(
        ("python -c 'import typer'", process(sys.executable, "-c", "import typer")),
        ("pyopscaffold --help", process(TOOL, "--help")),
        runs=20,
    )
    over = shown.median - base.median
    return Result(
        "--help", "at most 60 ms over `import typer`", f"{over * 1000:.0f} ms over", over <= 0.06, (base, shown)
    )


def measure_generate() -> tuple[Result, Result]:
    """``generate`` of the example against controller-gen on the same API and RBAC in Go, both warm."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"output:{kind}:dir={folder}" for kind in ("crd", "rbac", "webhook")]
        command = (str(CONTROLLER_GEN), "rbac:roleName=manager-role", "crd", "webhook", "paths=./...", *outputs)
        ours, theirs = paired(
            ("pyopscaffold generate --check", process(TOOL, "generate", "--check", cwd=EXAMPLE, env=ENVIRONMENT)),
            ("controller-gen rbac crd webhook", process(*command, cwd=GO_PROJECT)),
        )
    ratio = ours.median / theirs.median
    return (
        Result("generate", "at most 0.5 s", f"{ours.median:.2f} s", ours.median <= 0.5, (ours, theirs)),
        Result("generate", "at most 1/3 of controller-gen", f"{ratio:.2f} of it", ratio <= 1 / 3, ()),
    )


def measure_scaffold() -> Result:
    """``init`` and ``create api`` in an empty folder; each is a process, and each imports copier."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "demo"

        def both() -> None:
            shutil.rmtree(project, ignore_errors=True)
            project.mkdir()
            process(TOOL, "init", "--domain", "example.com", cwd=project)()
            api = ("create", "api", "--group", "db", "--version", "v1", "--kind", "MyDatabase")
            process(TOOL, *api, cwd=project)()

        base, made = paired(
            ("python -c 'import copier'", process(sys.executable, "-c", "import copier")), ("init + create api", both)
        )
    over = made.median - 2 * base.median
    text = f"{over:.2f} s over two imports"
    return Result("init + create api", "at most 1 s over copier's import", text, over <= 1, (base, made))


def measure() -> tuple[Result, ...]:
    """All of this module."""
    return measure_help(), *measure_generate(), measure_scaffold()
