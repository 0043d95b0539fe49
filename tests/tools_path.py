"""Where the programs are that tests run beside our own."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""


def tool(name: str) -> Path:
    """Path of ``helm``, ``controller-gen``, ``kubebuilder``, ``grammar`` or a schema, as ``make tools`` built it.

    Raises:
        FileNotFoundError: it is not built. Tests let this through: a test that lacks its oracle has failed.

    """
    path = ROOT / "build" / "tools" / name
    if not path.is_file():
        raise FileNotFoundError(f"{name} is not built: run `make tools`")
    return path
