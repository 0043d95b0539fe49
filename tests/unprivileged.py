"""Doing things as an ordinary user, whoever runs the tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

DROP = """
import os
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
"""
"""Statements after which a Python process is nobody; import first: root's interpreter may be out of others' reach."""


def open_to_others(folder: Path) -> None:
    """Let others pass through ``folder`` and those above it, up to the system's folder for temporary files."""
    top = Path(tempfile.gettempdir()).resolve()
    for path in (folder.resolve(), *folder.resolve().parents):
        if not path.is_relative_to(top) or path == top:
            return
        path.chmod(0o711)
