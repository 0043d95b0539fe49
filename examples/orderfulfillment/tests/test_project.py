"""What holds for the project as a whole."""

from __future__ import annotations

import subprocess
import sys


def test_the_operator_tells_its_flags() -> None:
    """The operator's process starts, and knows the flags that config/manager passes."""
    command = [sys.executable, "-m", "orderfulfillment", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for flag in ("--leader-elect", "--health-probe-bind-address", "--metrics-bind-address"):
        assert flag in done.stdout
