"""Time the command line: ``make bench``.

What the issue bounds: ``--help`` over ``import typer``, ``generate`` against controller-gen on the same API in Go, and
``init`` + ``create api`` over ``import copier``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from paired import Timing, paired, process

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "mydatabase"
GO_PROJECT = ROOT / "tests" / "oracle" / "testdata"
CONTROLLER_GEN = ROOT / "build" / "tools" / "controller-gen"
TOOL = Path(sys.executable).parent / "pyopscaffold"


def show(title: str, *timings: Timing) -> None:
    """Print one comparison."""
    print(f"\n{title}")
    for timing in timings:
        print(f"  {timing}")


def time_help() -> None:
    """``--help`` against the one import that it can't do without."""
    base, shown = paired(
        ("python -c 'import typer'", process(sys.executable, "-c", "import typer")),
        ("pyopscaffold --help", process(str(TOOL), "--help")),
        runs=20,
    )
    show("--help over import typer (bound: 60 ms)", base, shown)
    print(f"  difference of medians: {(shown.median - base.median) * 1000:.0f} ms")


def time_generate() -> None:
    """``generate`` of the example against controller-gen of the same API and RBAC."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder)
        go = process(
            str(CONTROLLER_GEN), "rbac:roleName=manager-role", "crd", "webhook", "paths=./...",
            f"output:crd:dir={output}", f"output:rbac:dir={output}", f"output:webhook:dir={output}", cwd=GO_PROJECT,
        )  # fmt: skip
        ours, theirs = paired(
            ("pyopscaffold generate --check", process(str(TOOL), "generate", "--check", cwd=EXAMPLE)),
            ("controller-gen rbac crd webhook", go),
        )
    show("generate, MyDatabase (bounds: 0.5 s, a third of controller-gen)", ours, theirs)
    print(f"  ratio of medians: {ours.median / theirs.median:.2f}")


def time_scaffold() -> None:
    """``init`` and ``create api`` in an empty folder, over copier's own import."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "demo"

        def both() -> None:
            shutil.rmtree(project, ignore_errors=True)
            project.mkdir()
            process(str(TOOL), "init", "--domain", "example.com", cwd=project)()
            api = ("create", "api", "--group", "db", "--version", "v1", "--kind", "MyDatabase")
            process(str(TOOL), *api, cwd=project)()

        base, made = paired(("python -c 'import copier'", process(sys.executable, "-c", "import copier")),
                            ("init + create api", both))  # fmt: skip
    show("init + create api over import copier (bound: 1 s)", base, made)
    print(f"  over one import: {made.median - base.median:.2f} s; over two: {made.median - 2 * base.median:.2f} s")


if __name__ == "__main__":
    time_help()
    time_generate()
    time_scaffold()
