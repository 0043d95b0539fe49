from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing import eventually
from pyopscaffold.testing.children import Children

PARENT = """
import os, sys, time
from functools import partial
from pathlib import Path
from pyopscaffold.testing.children import Children

children = Children()
pid = children.start("sleeper", ["sleep", "1000"], log=children.directory / "log")
print(pid, children.directory, flush=True)
"""

FOREVER = """
while True:  # a blocking read could start just after the signal came, and not see it
    time.sleep(0.05)
"""

FORK = """
if os.fork():
    os._exit(0)
sys.stdin.read()
"""

INTERRUPTED = """
import os, signal, subprocess, sys
from pyopscaffold.testing.children import Children

fork, number = subprocess._fork_exec, signal.Signals[sys.argv[1]]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

def interrupted(*arguments):
    pid = fork(*arguments)
    print(pid, flush=True)
    os.kill(os.getpid(), number)
    return pid

subprocess._fork_exec = interrupted
Children()
"""

STUBBORN = "trap 'echo told >> {log}' TERM; echo up >> {log}; while :; do sleep 0.05; done"


def is_alive(pid: int) -> bool:
    """Tell whether a process is there and no zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def is_up(log: Path) -> bool:
    """Tell whether the program that writes to ``log`` has set its traps."""
    return log.read_text() == "up\n"


def start_parent() -> tuple[subprocess.Popen[str], int, Path]:
    """Start a process with a child of its own; give both, and the child's folder."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT + FOREVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    pid, folder = parent.stdout.readline().split()
    return parent, int(pid), Path(folder)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_children_end_with_their_parent(number: signal.Signals) -> None:
    """However the parent ends, its children and its folder go."""
    parent, child, folder = start_parent()
    assert is_alive(child)
    with parent:
        os.killpg(parent.pid, number)
        assert parent.wait(10) != 0
    eventually(lambda: not is_alive(child))
    eventually(lambda: not folder.exists())


def test_children_end_although_a_fork_of_the_parent_lives_on() -> None:
    """A fork holds the pipe open, so the supervisor also looks at its parent itself."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT + FORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline().split()[0])
        parent.wait(10)
        eventually(lambda: not is_alive(child))


def test_closing_stops_the_newest_first(tmp_path: Path) -> None:
    """What was started last is stopped first, as the API server needs etcd to end well."""
    order = tmp_path / "order"
    children = Children()
    for name in ("first", "second"):
        script = f"trap 'echo {name} >> {order}; exit' TERM; echo up; while :; do sleep 0.02; done"
        log = tmp_path / name
        children.start(name, ["sh", "-c", script], log=log)
        eventually(partial(is_up, log))
    children.close()
    assert order.read_text().split() == ["second", "first"]


def test_a_child_that_ignores_term_is_killed(tmp_path: Path) -> None:
    """After its grace, a stubborn program is killed."""
    log = tmp_path / "log"
    children = Children()
    pid = children.start("stubborn", ["sh", "-c", STUBBORN.format(log=log)], log=tmp_path / "out")
    eventually(lambda: log.exists() and log.read_text() == "up\n")
    children.stop("stubborn", grace=0.3)
    assert children.exit_code("stubborn") == -signal.SIGKILL
    assert log.read_text() == "up\ntold\n"
    assert not is_alive(pid)
    children.close()


def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    """A missing program is an error with its path."""
    children = Children()
    with pytest.raises(EnvtestError, match="ghost does not start: No such file or directory: /no/such/program"):
        children.start("ghost", ["/no/such/program"], log=tmp_path / "log")
    children.close()


def test_the_exit_code_of_a_child_is_known(tmp_path: Path) -> None:
    """A program that ended by itself shows its code, and its output is in its log."""
    children = Children()
    children.start("brief", ["sh", "-c", "echo bye; exit 3"], log=tmp_path / "log")
    assert eventually(lambda: children.exit_code("brief")) == 3
    assert (tmp_path / "log").read_text() == "bye\n"
    children.close()


def test_closed_children_take_no_commands(tmp_path: Path) -> None:
    """Commands after the end are a clear error."""
    children = Children()
    children.close()
    assert not children.directory.exists()
    with pytest.raises(EnvtestError, match="stopped from outside"):
        children.start("late", ["true"], log=tmp_path / "log")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_while_the_supervisor_starts_leaves_nothing(name: str, tmp_path: Path) -> None:
    """When the signal comes between the fork and the supervisor's first word, both are ended before this process is."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", INTERRUPTED, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == (0 if name == "SIGTERM" else -signal.SIGINT)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
    assert list(tmp_path.iterdir()) == []
