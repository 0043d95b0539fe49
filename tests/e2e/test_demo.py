"""``make demo``, as somebody sees it with and without a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.testing import eventually
from tests.tools_path import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("demo")

DEMO = [sys.executable, str(ROOT / "examples" / "demo.py")]
UP, HIDE, SHOW = b"\x1b[1A", b"\x1b[?25l", b"\x1b[?25h"
STEPS = (
    "$ pyopscaffold init --domain example.com",
    "$ pyopscaffold create api --group '' --version v1 --kind MyDatabase",
    "$ pyopscaffold generate",
    "$ pyopscaffold lint-crd config/crd/bases",
    "$ pyopscaffold envtest run --simulated --nodes 3",
    "$ kubectl apply --server-side --filename install.yaml",
    "$ kubectl create token mydatabase-controller-manager",
    "$ python -m mydatabase --kubeconfig operator.kubeconfig",
    "Ready=True  AllPodsReady: 3 of 3 pods ready",
    "$ kubectl scale mydatabase mydatabase-sample --replicas=5",
    "Ready=True  AllPodsReady: 5 of 5 pods ready",
    "StatefulSet  mydatabase-sample  5/5  postgres:16",
    "$ kubectl delete mydatabase mydatabase-sample",
    "MyDatabase  mydatabase-sample  -  not there",
    "the operator ended with exit code 0",
    "Done: nothing is left.",
)


def left_of(folder: Path) -> list[str]:
    """List what a demo with this folder for temporary files left: files, and processes that name it."""
    listed = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    return [*map(str, folder.iterdir()), *(line for line in listed.splitlines() if str(folder) in line)]


def test_it_goes_through_every_step(tmp_path: Path) -> None:
    """All steps are printed as commands in this order, each is reached, and nothing is left."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rest = done.stdout
    for step in STEPS:
        before, found, rest = rest.partition(step)
        assert found, f"{step!r} is not after what came before it:\n{before}"
    assert eventually(lambda: left_of(tmp_path) == [])


@pytest.mark.parametrize("step", ["4. Start a cluster", "7. Run the operator"])
def test_ctrl_c_leaves_nothing(tmp_path: Path, step: str) -> None:
    """Ctrl-C while a step runs ends the demo with 130, and every process and file of it."""
    log = tmp_path / "log"
    work = tmp_path / "work"
    work.mkdir()
    with log.open("wb") as output:
        demo = subprocess.Popen(DEMO, env={**os.environ, "TMPDIR": str(work)}, stdout=output, stderr=output)
    eventually(lambda: step in log.read_text(), within=90)
    demo.send_signal(signal.SIGINT)
    assert demo.wait(timeout=40) == 130, log.read_text()
    assert eventually(lambda: left_of(work) == [])


def test_a_terminal_gets_a_live_table(tmp_path: Path) -> None:
    """The table is drawn over itself while the cursor is hidden; Ctrl-C in the midst of it gives the cursor back."""
    terminal, side = pty.openpty()
    environment = {**os.environ, "TMPDIR": str(tmp_path), "TERM": "xterm", "COLUMNS": "120"}
    demo = subprocess.Popen(DEMO, env=environment, stdin=side, stdout=side, stderr=side)
    os.close(side)
    shown = bytearray()
    with os.fdopen(terminal, "rb", buffering=0) as output:
        while b"AllPodsReady" not in shown and (chunk := output.read(4096)):
            shown += chunk
        demo.send_signal(signal.SIGINT)
        with suppress(OSError):  # EIO: the other side is closed
            while chunk := output.read(4096):
                shown += chunk
    assert demo.wait(timeout=40) == 130, shown.decode()
    redrawn = shown.partition(UP)[2]
    assert b"StatefulSet" in redrawn
    assert shown.rfind(SHOW) > shown.rfind(HIDE) >= 0
    assert eventually(lambda: left_of(tmp_path) == [])
