"""What an author writes passes the type checkers' strict mode without plugins."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.tools_path import ROOT

DECLARATIONS = ROOT / "tests" / "oracle" / "testdata" / "python"

MISTAKES = """\
from acme.api.v1.my_database import MyDatabase, MyDatabaseSpec
from acme.controllers.my_database import MyDatabaseReconciler
from pyopscaffold.api import CEL, Column
from pyopscaffold.runtime import Context, Result

MyDatabaseSpec(replicas="3")
MyDatabase(spec=MyDatabaseSpec()).spec.replica
Column("A", "status.replicas")
CEL("true", reason="Forbidden")


class Wrong(MyDatabaseReconciler):
    async def reconcile(self, ctx: Context, obj: MyDatabase) -> Result:
        return Result(requeue_after=obj.metadata.name)
"""


def _mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *arguments]
    environ = {**os.environ, "MYPYPATH": str(DECLARATIONS)}
    return subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, check=False)


def test_declarations_are_strictly_typed() -> None:
    """The design example, a kind with every marker, and their reconcilers have no finding."""
    done = _mypy("--package", "acme")
    assert (done.stdout, done.returncode) == ("", 0)


def test_mistakes_are_found() -> None:
    """A wrong value, a misspelt field, an unknown word, and a wrong result are found before anything runs."""
    done = _mypy("--command", MISTAKES)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    codes = [(line.split(":")[1], line.rpartition("[")[2].rstrip("]")) for line in errors]
    assert codes == [("6", "arg-type"), ("7", "attr-defined"), ("8", "call-arg"), ("9", "arg-type"), ("14", "arg-type")]
