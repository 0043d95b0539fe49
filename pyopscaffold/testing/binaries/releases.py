"""The official binaries of kube-controller-manager and kube-scheduler, which are released for Linux only.

Layout: https://kubernetes.io/releases/download/#binaries
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries import fetch
from pyopscaffold.testing.binaries.store import target

if TYPE_CHECKING:
    from pathlib import Path

    from pyopscaffold.testing.binaries.store import Report

RELEASES = "https://dl.k8s.io"
RELEASES_VARIABLE = "PYOPSCAFFOLD_RELEASES"
"""Environment variable that names another site of the same layout, such as a mirror."""

PROGRAMS = ("kube-controller-manager", "kube-scheduler")


def download(version: str, into: Path, report: Report) -> None:
    """Fetch and verify both programs.

    Raises:
        Unavailable: there is no answer, or none for this version and platform.
        EnvtestError: what came does not have the published checksum.

    """
    system, machine = target()
    if system != "linux":
        raise fetch.Unavailable(f"there are no official {' and '.join(PROGRAMS)} for {system}")
    site = os.environ.get(RELEASES_VARIABLE) or RELEASES
    for name in PROGRAMS:
        url = f"{site}/v{version}/bin/{system}/{machine}/{name}"
        wanted = fetch.text(f"{url}.sha256").decode(errors="replace").split()[:1]
        report(f"downloading {url}")
        found = fetch.stream(url, into / name, report, algorithm="sha256")
        if [found] != wanted:
            raise EnvtestError(
                f"{url} has a wrong checksum: sha256 {found[:16]}…, published is {''.join(wanted)[:16]}…",
                hint="the download was cut or changed on its way; try again, or use --source go",
            )
        (into / name).chmod(0o755)
