"""The official envtest archives, published by controller-tools with an index of sha512 sums.

The index is the one that setup-envtest reads:
https://github.com/kubernetes-sigs/controller-tools/blob/main/envtest-releases.yaml
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import tarfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pyopscaffold.errors import EnvtestError
from pyopscaffold.testing.binaries.store import PROGRAMS, target

if TYPE_CHECKING:
    from pyopscaffold.testing.binaries.store import Report

INDEX = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"
INDEX_VARIABLE = "PYOPSCAFFOLD_ENVTEST_INDEX"
"""Environment variable that names another index, such as a mirror's."""

_INDEX_SECONDS = 6.0
_READ_SECONDS = 30.0
_INDEX_BYTES = 8 << 20
_CHUNK = 1 << 20


class ArchiveUnavailable(EnvtestError):  # noqa: N818 - a state, which another source may mend
    """The archive can't be had here: no network, or none of this version and platform."""


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
        ArchiveUnavailable: the index can't be reached in a few seconds, or it has no such archive.
        EnvtestError: the index is not one.

    """
    import yaml  # noqa: PLC0415 - only this command reads YAML

    name = f"envtest-v{version}-{'-'.join(target())}.tar.gz"
    try:
        # BaseLoader makes nothing but strings, lists and mappings: a checksum of digits alone must stay text.
        releases = yaml.load(_fetch_within(index, seconds=_INDEX_SECONDS), Loader=yaml.BaseLoader)["releases"]  # noqa: S506
        entry = (releases.get(f"v{version}") or {}).get(name)
        if entry is None:
            raise ArchiveUnavailable(f"the index {index} has no {name}")
        return Archive(name=name, url=urllib.parse.urljoin(index, entry["selfLink"]), sha512=entry["hash"].lower())
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise EnvtestError(
            f"{index} is not an index of envtest archives", hint=f"unset {INDEX_VARIABLE} to use the official one"
        ) from error


def download(archive: Archive, into: Path, report: Report) -> None:
    """Fetch, verify and unpack ``archive``; only the known programs are taken out of it.

    Raises:
        ArchiveUnavailable: there is no answer, or it is an HTTP error.
        EnvtestError: what came is not what the index describes.

    """
    report(f"downloading {archive.url}")
    file = into / ".download.tar.gz"
    try:
        digest = _stream(archive.url, file, report)
        if digest != archive.sha512:
            raise EnvtestError(
                f"{archive.name} has a wrong checksum: sha512 {digest[:16]}…, the index says {archive.sha512[:16]}…",
                hint="the download was cut or changed on its way; try again, or use --source go",
            )
        report(f"unpacking {archive.name}")
        _unpack(file, into)
    finally:
        file.unlink(missing_ok=True)


def _fetch_within(url: str, *, seconds: float) -> bytes:
    """Read ``url`` in a thread that is given up after ``seconds``: a resolver alone can hang for longer."""
    answer: list[bytes | Exception] = []

    def fetch() -> None:
        try:
            with urllib.request.urlopen(url, timeout=seconds) as response:  # noqa: S310 - the user's own choice
                answer.append(response.read(_INDEX_BYTES))
        except (OSError, http.client.HTTPException, ValueError) as error:
            answer.append(error)

    thread = threading.Thread(target=fetch, daemon=True, name="envtest-index")
    thread.start()
    thread.join(seconds)
    match answer:
        case [bytes() as body]:
            return body
        case [Exception() as error]:
            raise ArchiveUnavailable(f"the envtest archives are out of reach: {url}: {_why(error)}") from error
        case _:
            raise ArchiveUnavailable(f"the envtest archives are out of reach: {url}: no answer in {seconds:.0f} s")


def _stream(url: str, file: Path, report: Report) -> str:
    """Write what ``url`` serves to ``file`` and give its sha512 in hexadecimal."""
    digest = hashlib.sha512()
    try:
        response = urllib.request.urlopen(url, timeout=_READ_SECONDS)  # noqa: S310 - named by the index
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ArchiveUnavailable(f"{url}: {_why(error)}") from error
    said = time.monotonic()
    with response, file.open("wb") as sink:
        total = int(response.headers.get("Content-Length") or 0)
        try:
            while chunk := response.read(_CHUNK):
                sink.write(chunk)
                digest.update(chunk)
                if time.monotonic() - said > 1:
                    said = time.monotonic()
                    report(f"  {sink.tell() >> 20} of {total >> 20} MiB")
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            raise EnvtestError(f"the download of {url} broke off: {_why(error)}", hint="try again") from error
        if sink.tell() < total:
            raise EnvtestError(f"the download of {url} broke off at {sink.tell()} of {total} bytes", hint="try again")
    return digest.hexdigest()


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


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, OSError):
        return reason.strerror or str(reason)
    return str(reason) or type(error).__name__
