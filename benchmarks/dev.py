"""Time from saving a file to what the new code did, seen on the API server, while ``pyopscaffold dev`` runs."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.paired import Result, paired
from pyopscaffold.runtime.client.config import load
from pyopscaffold.testing import RestClient, eventually

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "/apis/example.com/v1/namespaces/default/mydatabases/mydatabase-sample"
BOUND = 3.0


def started(project: Path, stack: ExitStack) -> RestClient:
    """Run ``dev`` in the project until the stack ends, and give a client of its cluster."""
    tool = str(Path(sys.executable).with_name("pyopscaffold"))
    path = subprocess.run([tool, "envtest", "path", "--plain"], check=True, capture_output=True, text=True).stdout
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(project.parent / "cache"),
        "VIRTUAL_ENV": sys.prefix,
        "KUBEBUILDER_ASSETS": path.strip(),
    }
    log = project.parent / "log"
    with log.open("w") as output:
        dev = subprocess.Popen([tool, "dev"], cwd=project, env=environment, stdout=output, stderr=output)
    stack.callback(dev.wait)
    stack.callback(dev.terminate)
    eventually(lambda: "Ready=True" in log.read_text(), within=120)
    (kubeconfig,) = (project.parent / "cache").glob("pyopscaffold/dev/*/kubeconfig")
    config = load(kubeconfig)
    return RestClient(config.server, ca=config.ca.decode(), token=config.token)


def save(file: Path, client: RestClient) -> Callable[[], None]:
    """Give a step that saves a new message into the reconciler and waits until the sample's status has it."""
    original, numbers = file.read_text(), itertools.count()

    def step() -> None:
        text = f"pods are ready, {next(numbers)}"
        file.write_text(original.replace("pods ready", text))
        eventually(lambda: text in str(client.get(SAMPLE)["status"]["conditions"]), within=30)

    return step


def measure() -> tuple[Result, ...]:
    """All of this module."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        project = Path(folder) / "mydatabase"
        shutil.copytree(ROOT / "examples" / "mydatabase", project)
        step = save(project / "mydatabase" / "controllers" / "my_database.py", started(project, stack))
        (timing,) = paired(("dev: save a file until the new code has reconciled", step))
    took = timing.median
    return (Result("dev: save to reconciled", f"at most {BOUND:.0f} s", f"{took:.1f} s", took <= BOUND, (timing,)),)
