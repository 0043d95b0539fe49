"""The keys and tokens of one control plane, on disk: made once, and found again where the folder is kept."""

from __future__ import annotations

import csv
import secrets
import time
from typing import TYPE_CHECKING

from pyopscaffold.testing.server import ADMIN, Identity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TOKENS = "tokens.csv"
_KEPT_SECONDS = 300 * 24 * 3600
"""Kept certificates are made anew after this time, well before they end."""


def prepare(folder: Path, users: Sequence[str], *, masters: Sequence[str] = ()) -> tuple[str, tuple[Identity, ...]]:
    """Write what is not in ``folder`` yet, and give the authority (PEM) and the identities: ``admin``, then ``users``.

    ``masters`` come last; like ``admin`` they may do everything.
    The files: ``ca.crt``, ``tls.crt``, ``tls.key``, ``sa.key`` and ``tokens.csv``. Whoever was known keeps the token.
    """
    _keys(folder)
    known = _tokens(folder / _TOKENS)
    mighty = (ADMIN, *masters)
    identities = tuple(
        Identity(
            user=name,
            token=known.get(name) or secrets.token_urlsafe(),
            groups=("system:masters",) if name in mighty else (),
        )
        for name in (ADMIN, *users, *masters)
    )
    lines = (f'{who.token},{who.user},{who.user},"{",".join(who.groups)}"\n' for who in identities)
    _write(folder / _TOKENS, "".join(lines))
    return (folder / "ca.crt").read_text(), identities


def _keys(folder: Path) -> None:
    from pyopscaffold.testing import pki  # noqa: PLC0415 - a broker that nobody asks should not load cryptography

    certificate = folder / "tls.crt"  # written last: where it is, the others are
    if not certificate.exists() or time.time() - certificate.stat().st_mtime > _KEPT_SECONDS:
        keys = pki.server_keys()
        _write(folder / "ca.crt", keys.authority)
        _write(folder / "tls.key", keys.key)
        _write(certificate, keys.certificate)
    if not (folder / "sa.key").exists():
        _write(folder / "sa.key", pki.signing_key())


def _tokens(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row[1]: row[0] for row in csv.reader(file)}


def _write(path: Path, text: str) -> None:
    """Replace the file in one step: whoever kills us leaves the old one or the new one, whole."""
    partial = path.with_name(f".{path.name}")
    partial.write_text(text)
    partial.replace(path)
