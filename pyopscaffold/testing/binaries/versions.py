"""Which Kubernetes versions there are control planes for, and what a user may call them."""

from __future__ import annotations

import re

from pyopscaffold.errors import EnvtestError

PINNED = ("1.37.2", "1.36.3", "1.35.4")
"""The newest three minors, newest first: what projects are tested against."""

DEFAULT = PINNED[0]

_SHAPE = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def resolve(version: str | None) -> str:
    """Turn ``None``, ``1.36``, ``v1.36.3`` or ``1.36.3`` into a full version such as ``1.36.3``.

    Raises:
        EnvtestError: it is no version, or a minor without a pinned patch release.

    """
    if version is None:
        return DEFAULT
    found = _SHAPE.fullmatch(version.strip())
    if found is None:
        raise EnvtestError(
            f"{version!r} is not a Kubernetes version", hint=f"write it as {DEFAULT} or {minor_of(DEFAULT)}"
        )
    if found[3] is not None:
        return ".".join(found.groups())
    for pinned in PINNED:
        if minor_of(pinned) == f"{found[1]}.{found[2]}":
            return pinned
    raise EnvtestError(
        f"no patch release of Kubernetes {version} is pinned",
        hint=f"name a full version, or one of {', '.join(map(minor_of, PINNED))}",
    )


def minor_of(version: str) -> str:
    """``1.36`` of ``1.36.3``."""
    return version.rpartition(".")[0]
