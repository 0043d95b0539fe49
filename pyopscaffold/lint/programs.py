"""Programs of the user that render manifests, and how to know what is for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import NamedTuple

TIMEOUT = 120.0
"""Seconds that a program may take; charts of hundreds of templates take a few."""


class Answer(NamedTuple):
    """What a program printed, or in one line why it did not."""

    text: str
    error: str = ""


def has(program: str) -> bool:
    """Whether a program is on PATH."""
    return shutil.which(program) is not None


def there_is(path: str, *name: str) -> bool:
    """Whether a path, or a name in it, is a file; not so where one can't look, since reading it tells why."""
    return bool(path) and os.path.isfile(os.path.join(path, *name))  # noqa: PTH113, PTH118 - Path's raises


def ask(*command: str) -> Answer:
    """Run a program of PATH; whatever comes of it is an answer. What is piped in to us is not for it to read."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return Answer("", f"it took more than {TIMEOUT:.0f} seconds")
    except OSError as error:
        return Answer("", f"it can't be run: {error.strerror}")
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").partition("\nUse --debug")[0].split())
        return Answer("", said.removeprefix("Error: ").removeprefix("error: ") or f"it failed with {done.returncode}")
    return Answer(done.stdout.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))
