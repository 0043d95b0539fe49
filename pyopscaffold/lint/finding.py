"""What the linter says."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Path


class Severity(enum.StrEnum):
    """How much a finding matters: an error is refused by the server or breaks users, a warning costs them later."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class FailOn(enum.StrEnum):
    """The least severity that fails a run."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"
    NEVER = "never"

    @property
    def severities(self) -> tuple[Severity, ...]:
        """The severities that fail a run."""
        return tuple(Severity)[: tuple(FailOn).index(self) + 1] if self is not FailOn.NEVER else ()


class Edit(NamedTuple):
    """One change of a manifest: sets the value at ``path``, making the mappings on the way, or removes it."""

    path: Path
    value: Any = None
    remove: bool = False


@dataclass(frozen=True)
class Fix:
    """The way out of a breach; the edits are made together or not at all.

    It is ``safe`` where no object that was valid becomes invalid, and none is stored otherwise than before.
    """

    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, order=True, kw_only=True)
class Finding:
    """One breach of one rule at one place. Lines and columns count from 1; findings sort by place.

    ``field`` is the place in the user's terms, such as ``.spec.items[].name``, or empty. ``crd`` is the name of the
    CRD, ``version`` the API version, both empty where there is none. ``snippet`` is the line of text, or
    a part of a long one, which begins at ``snippet_column`` of it. ``fix`` is the way out, if there is one; its paths
    lead from the root of the document that holds ``line``.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity = dataclasses.field(compare=False)
    message: str
    crd: str = ""
    version: str = ""
    field: str = ""
    snippet: str = dataclasses.field(default="", compare=False, repr=False)
    snippet_column: int = dataclasses.field(default=1, compare=False, repr=False)
    fix: Fix | None = dataclasses.field(default=None, compare=False, repr=False)

    def key(self, file: str) -> str:
        """Return what stays the same while the file is edited; ``file`` names it for findings that are of no CRD."""
        place = self.crd + (f"/{self.version}" if self.version else "") or file
        return f"{self.rule} {place} {self.field}".rstrip()


@dataclass(frozen=True, order=True)
class Skipped:
    """A part of a file that was not checked, and why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, order=True)
class Failure:
    """A rule that broke down over a part of a file, so that it is not known what it would have found there."""

    file: str
    line: int
    rule: str
    error: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """The outcome of a run; ``crds`` counts the CRDs that were checked, ``rules`` the rules that were on.

    ``checked`` holds the names of all files and manifests that were read, ``unread`` those of earlier CRDs that stand
    in what can't be. ``baselined`` counts the findings that a baseline lists and which are left out here, ``fixed``
    those that were mended, or would be.
    """

    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    files: int
    crds: int
    rules: int
    failures: tuple[Failure, ...] = ()
    checked: frozenset[str] = dataclasses.field(default=frozenset(), repr=False)
    unread: frozenset[str] = dataclasses.field(default=frozenset(), repr=False)
    baselined: int = 0
    fixed: int = 0

    def count(self, severity: Severity) -> int:
        """Count the findings of one severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def fails(self, fail_on: FailOn = FailOn.WARN) -> bool:
        """Whether there is a finding that fails a run."""
        return any(finding.severity in fail_on.severities for finding in self.findings)
