"""The official envtest archives, published by controller-tools with an index of sha512 sums.

The index is the one that setup-envtest reads:
https://github.com/kubernetes-sigs/controller-tools/blob/main/envtest-releases.yaml
"""

from __future__ import annotations

import os
import shutil
import tarfile
import urllib.parse
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries import fetch
from pyopscaffold.testing.binaries.store import PROGRAMS, target

if TYPE_CHECKING:
    from pyopscaffold.testing.binaries.store import Report

INDEX = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"
INDEX_VARIABLE = "PYOPSCAFFOLD_ENVTEST_INDEX"
"""Environment variable that names another index, such as a mirror's."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """One entry of the index; ``sha512`` is hexadecimal."""

    name: str
    url: str
    sha512: str


def index_url(chosen: str | None = None) -> str:
    """Give the index to read: the chosen one, else the environment's, else the official one."""
    return chosen or os.environ.get(INDEX_VARIABLE) or INDEX


def locate(version: str, *, index: str) -> Archive:
    """Find the archive of ``version`` for this machine.

    Raises:
        fetch.Unavailable: the index can't be reached in a few seconds, or it has no such archive.
        EnvtestError: the index is not one.

    """
    import yaml  # noqa: PLC0415 - only this command reads YAML

    name = f"envtest-v{version}-{'-'.join(target())}.tar.gz"
    try:
        # BaseLoader makes nothing but strings, lists and mappings: a checksum of digits alone must stay text.
        releases = yaml.load(fetch.text(index), Loader=yaml.BaseLoader)["releases"]  # noqa: S506
        entry = (releases.get(f"v{version}") or {}).get(name)
        if entry is None:
            raise fetch.Unavailable(f"the index {index} has no {name}")
        return Archive(name=name, url=urllib.parse.urljoin(index, entry["selfLink"]), sha512=entry["hash"].lower())
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise EnvtestError(
            f"{index} is not an index of envtest archives", hint=f"unset {INDEX_VARIABLE} to use the official one"
        ) from error


def download(archive: Archive, into: Path, report: Report) -> None:
    """Fetch, verify and unpack ``archive``; only the known programs are taken out of it.

    Raises:
        fetch.Unavailable: there is no answer, or it is an HTTP error.
        EnvtestError: what came is not what the index describes.

    """
    report(f"downloading {archive.url}")
    file = into / ".download.tar.gz"
    try:
        digest = fetch.stream(archive.url, file, report, algorithm="sha512")
        if digest != archive.sha512:
            raise EnvtestError(
                f"{archive.name} has a wrong checksum: sha512 {digest[:16]}…, the index says {archive.sha512[:16]}…",
                hint="the download was cut or changed on its way; try again, or use --source go",
            )
        report(f"unpacking {archive.name}")
        _unpack(file, into)
    finally:
        file.unlink(missing_ok=True)


def _unpack(file: Path, into: Path) -> None:
    """Copy the known programs out of the archive, by base name: no path of the archive is ever used."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                content = archive.extractfile(member) if name in PROGRAMS and member.isreg() else None
                if content is None:
                    continue
                with content, (into / name).open("wb") as sink:
                    shutil.copyfileobj(content, sink)
                (into / name).chmod(0o755)
    except (tarfile.TarError, EOFError) as error:
        raise EnvtestError(f"{file.name} is not a gzipped tar archive: {error}") from error
