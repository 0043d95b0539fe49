"""What forms for other tools share: how a file is named there, and how a finding is known again."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.lint.finding import Finding

STANDARD_INPUT = "stdin"


def relative(file: str) -> str:
    """Name a file as the tools want it: from the working folder, with slashes; one outside of it by its whole path."""
    if file in ("-", "<stdin>"):
        return STANDARD_INPUT
    path = os.path.relpath(file) if Path(file).is_absolute() else os.path.normpath(file)
    return (str(Path(file).resolve()) if path.startswith(os.pardir) else path).replace(os.sep, "/")


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Return a text for each finding that stays while lines move, and that no other has.

    It hangs on rule, CRD, version and field, and on the file only for findings that are about no CRD.
    """
    seen: Counter[str] = Counter()
    found = []
    for finding in findings:
        key = finding.key(relative(finding.file))
        seen[key] += 1
        text = f"{key} {seen[key]}".encode("utf-8", "surrogateescape")  # a file's name may be any bytes
        found.append(hashlib.sha256(text).hexdigest()[:32])
    return found
