"""The example of docs/client.md, run as it stands there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


async def test_the_example_runs(kubeconfig: Path, tmp_path: Path) -> None:
    """The first example of the page is a whole program that does what it says."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "example.py").write_text(found[1].replace("default", "kube-public"))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(tmp_path / "example.py"),
        env={**os.environ, "KUBECONFIG": str(kubeconfig)},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert (process.returncode, output.decode()) == (0, "greeting good morning\n")
