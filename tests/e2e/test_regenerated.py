"""The committed example is what the tool makes today, plus its user's edits and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from examples.remake import EDITED, EXAMPLE, EXAMPLES, make, tree


def test_only_the_edits_differ() -> None:
    """Made anew, with the edited files copied in, it equals the committed example byte for byte (`make examples`)."""
    with tempfile.TemporaryDirectory(dir=EXAMPLES, prefix=".remade-") as folder:
        make(Path(folder))
        made, committed = tree(Path(folder)), tree(EXAMPLE)
    assert made.keys() == committed.keys()
    assert {path for path in made if made[path] != committed[path]} == set()


def test_generated_files_are_up_to_date() -> None:
    """``generate --check`` finds no drift in the committed example."""
    command = [sys.executable, "-m", "pyopscaffold", "generate", "--check"]
    environment = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": sys.prefix}
    done = subprocess.run(command, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_a_short_program() -> None:
    """The user's code, types and reconciler, stays at about 300 lines."""
    written = [path for path in EDITED if not path.startswith("tests/")]
    assert sum(len((EXAMPLE / path).read_text().splitlines()) for path in written) <= 320
