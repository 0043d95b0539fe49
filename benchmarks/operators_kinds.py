"""The operators under comparison as processes, and what Linux says of a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
KOPF = "kopf==1.45.2"
WORKERS = 16
_TICK = os.sysconf("SC_CLK_TCK")
_STOP_SECONDS = 15


@dataclass(frozen=True)
class Operator:
    """One of them: how it is built (None: nothing to do) and started for a namespace."""

    name: str
    agent: str
    """How the user agent of its requests begins."""
    build: Callable[[], None]
    command: Callable[[str], list[str]]


def _build_go() -> None:
    command = ["go", "build", "-o", str(BUILD / "go-operator"), "."]
    subprocess.run(command, cwd=HERE / "go-operator", check=True)


def _build_kopf() -> None:
    if not (BUILD / "kopf" / "bin" / "kopf").exists():
        subprocess.run([sys.executable, "-m", "venv", str(BUILD / "kopf")], check=True)
        subprocess.run([str(BUILD / "kopf" / "bin" / "pip"), "install", "--quiet", KOPF], check=True)


def _go(namespace: str) -> list[str]:
    return [str(BUILD / "go-operator"), f"--namespace={namespace}", f"--workers={WORKERS}"]


def _ours(namespace: str) -> list[str]:
    addresses = [f"--{what}-bind-address=127.0.0.1:0" for what in ("metrics", "health-probe")]
    program = str(HERE / "operators_ours.py")
    return [sys.executable, program, f"--namespace={namespace}", f"--workers={WORKERS}", *addresses]


def _kopf(namespace: str) -> list[str]:
    return [str(BUILD / "kopf" / "bin" / "kopf"), "run", "--quiet", "-n", namespace, str(HERE / "operators_kopf.py")]


GO = Operator("controller-runtime", "go-operator", _build_go, _go)
OURS = Operator("pyopscaffold", "note/", lambda: None, _ours)
KOPF_OPERATOR = Operator("kopf", "kopf", _build_kopf, _kopf)
OPERATORS = {"go": GO, "ours": OURS, "kopf": KOPF_OPERATOR}


class Process:
    """A running operator; a context manager that stops it by SIGTERM."""

    def __init__(self, operator: Operator, *, kubeconfig: Path, namespace: str, log: Path) -> None:
        environ: Mapping[str, str] = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        with log.open("wb") as output:
            self.started = time.time()
            self._process = subprocess.Popen(
                operator.command(namespace), env=environ, stdout=output, stderr=subprocess.STDOUT
            )
        self._log = log
        self._proc = Path("/proc", str(self._process.pid))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def check(self) -> None:
        """Raise RuntimeError when it has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"the operator ended: {self._log.read_text(errors='replace')[-2000:]}")

    @property
    def cpu(self) -> float:
        """Seconds of CPU so far, user and system."""
        fields = (self._proc / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    @property
    def rss(self) -> float:
        """Megabytes resident now."""
        return self._status("VmRSS") / 1024

    @property
    def peak(self) -> float:
        """Megabytes resident at most."""
        return self._status("VmHWM") / 1024

    @property
    def wake_ups(self) -> int:
        """How often its threads went to sleep of their own will, which is how often they were woken."""
        total = 0
        for task in (self._proc / "task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches"):
                    total += int(line.split()[1])
        return total

    def _status(self, name: str) -> int:
        for line in (self._proc / "status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
        return 0
