"""A local mirror of the envtest archives."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyopscaffold.testing.binaries import DEFAULT, store

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHIVE = f"envtest-v{DEFAULT}-{'-'.join(store.target())}.tar.gz"
SCRIPT = b"#!/bin/sh\necho hello\n"


@dataclass
class Mirror:
    """An HTTP server that serves ``files`` by path, and cuts those named in ``cut`` short."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    @property
    def index(self) -> str:
        """Address of the index of archives."""
        return f"{self.url}/index.yaml"

    def publish(self, members: Mapping[str, bytes], *, sha512: str | None = None) -> None:
        """Serve an archive of ``members`` for the default version, and an index that names it."""
        archive = tarball(members)
        digest = sha512 or hashlib.sha512(archive).hexdigest()
        self.files[f"/files/{ARCHIVE}"] = archive
        entry = f"hash: {digest}\n      selfLink: {self.url}/files/{ARCHIVE}"
        self.files["/index.yaml"] = f"releases:\n  v{DEFAULT}:\n    {ARCHIVE}:\n      {entry}\n".encode()


def tarball(members: Mapping[str, bytes]) -> bytes:
    """Make a gzipped tar archive of plain files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def programs(prefix: str = "controller-tools/envtest/") -> dict[str, bytes]:
    """Members of an archive like the official one."""
    return {f"{prefix}{name}": SCRIPT for name in store.PROGRAMS}
