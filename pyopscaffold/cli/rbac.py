"""``pyopscaffold rbac``."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyopscaffold.cli import console
from pyopscaffold.errors import UserError

if TYPE_CHECKING:
    from pyopscaffold.testing.rbac import Comparison, Permission


class Output(enum.StrEnum):
    """Forms of the answer."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the verb and what it does."""
    rbac = typer.Typer(rich_markup_mode=None)
    rbac.command()(verify)
    app.add_typer(rbac, name="rbac", help="Prove the operator's permissions.")

    @rbac.callback()
    def options() -> None: ...


def verify(
    pytest_args: Annotated[
        list[str] | None, typer.Argument(metavar="[PYTEST_ARGS]...", help="For pytest; write -- before options of it.")
    ] = None,
    *,
    python: Annotated[
        str, typer.Option("--python", metavar="FILE", help="The interpreter that has the project's dependencies.")
    ] = "",
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print what was found.")] = Output.TEXT,
) -> None:
    """Run the project's tests, and hold its role against what the operator asked of the API server.

    Exit code 0: nothing was refused, nothing is unused. 1: something was. 2: the tests could not tell.
    """
    from pyopscaffold.loader.interpreter import find_interpreter  # noqa: PLC0415 - so that --help stays quick
    from pyopscaffold.loader.root import find_root  # noqa: PLC0415
    from pyopscaffold.testing import audit, proof  # noqa: PLC0415

    root = find_root(Path.cwd())
    proof.read(root)  # what is wrong with the files, before the tests run
    with tempfile.TemporaryDirectory(prefix="pyopscaffold-") as folder:
        environment = {**os.environ, audit.KEEP_VARIABLE: folder}
        command = [*find_interpreter(root, python=python), "-m", "pytest", *(pytest_args or ())]
        code = subprocess.run(command, cwd=root, env=environment, stdout=sys.stderr, check=False).returncode
        records = proof.operator_records(audit.kept_logs(Path(folder)))
    found = proof.prove(root, records)
    if code and not found.refused:
        raise UserError(f"pytest ended with exit code {code}, which proves nothing", hint="have the tests pass first")
    if not records:
        raise UserError(
            "the tests ran no operator as a service account on an API server",
            hint="make its kubeconfig by api_server.service_account(…), as tests/conftest.py of a new project does",
        )
    if output is Output.JSON:
        console.say(json.dumps(_report(found), indent=2))
    else:
        _print(found, tests_passed=not code)
    if not found.exact:
        raise typer.Exit(1)


def _print(found: Comparison, *, tests_passed: bool) -> None:
    from pyopscaffold.generate.manifest import dump  # noqa: PLC0415 - so that --help stays quick
    from pyopscaffold.testing.proof import ROLE, describe  # noqa: PLC0415

    if found.exact:
        console.say(f"{ROLE} grants what the operator asked for, and nothing else")
        return
    for finding in describe(found):
        console.say(finding)
    if not tests_passed:
        console.warn("tests failed: what came after a refusal is not known, and counts as unused")
        return
    console.say()
    console.say("the least role:")
    console.say(dump({"rules": [rule.to_mapping() for rule in found.least]}).rstrip())


def _report(found: Comparison) -> dict[str, Any]:
    return {
        "exact": found.exact,
        "refused": [_mapping(permission) | {"times": times} for permission, times in found.refused.items()],
        "unused": [_mapping(permission) for permission in found.unused],
        "rules": [rule.to_mapping() for rule in found.least],
    }


def _mapping(permission: Permission) -> dict[str, Any]:
    rule = permission.rule().to_mapping()
    return {"text": str(permission), "rule": rule}
