"""What a change does to a CRD, as rules look at it, and the earlier states that changes are measured from."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from pyopscaffold.compat.change import Change, Grade, Sort
from pyopscaffold.compat.crd import compare, removed
from pyopscaffold.document.reader import Unreadable, scan
from pyopscaffold.lint.finding import Finding, Severity
from pyopscaffold.lint.rule import Hit
from pyopscaffold.lint.subject import CRD_API_VERSION, Crd, Manifest, manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.finding import Report
    from pyopscaffold.lint.ruleset import Ruleset

GONE = "VE01"
"""The rule that a CRD which is gone breaks, though there is no manifest left for it to look at."""
_SEVERITIES = {
    Grade.BREAKING: Severity.ERROR,
    Grade.RISKY: Severity.WARNING,
    Grade.COMPATIBLE: Severity.INFO,
}

Before = Mapping[str, Manifest]
"""The earlier states of CRDs, by name."""


@dataclass(frozen=True)
class Evolution:
    """A CRD, and what changed in it since its earlier state."""

    crd: Crd
    changes: tuple[Change, ...]

    @classmethod
    def since(cls, before: Before, crd: Crd) -> Evolution | None:
        """Compare a CRD with its earlier state; None where it is new."""
        old = before.get(crd.name)
        return cls(crd, compare(old.data, crd.manifest.data)) if old else None

    def hits(self, *sorts: Sort, grade: Grade = Grade.RISKY) -> Iterator[Hit]:
        """Yield the changes of these sorts, and of this grade or worse."""
        for change in self.changes:
            if change.sort in sorts and change.grade >= grade:
                where = f"version {change.version}" if change.version and change.field else ""
                since = f" beside {change.before}" if change.before else ""
                message = f"{where}{since}: {change.message}" if where else change.message
                yield Hit(change.path, message, change.field, severity=_SEVERITIES[change.grade])


def read_before(sources: Iterable[Source], broken: list[Unreadable] | None = None) -> dict[str, Manifest]:
    """Collect the CRDs in the sources by name; what is no whole CRD of apiextensions.k8s.io/v1 is left out.

    What can't be read, templates among it, is added to ``broken``.
    """
    found: dict[str, Manifest] = {}
    unread = [] if broken is None else broken
    for source in sources:
        for part in scan(source):
            if isinstance(part, Unreadable):
                unread.append(part)
                continue
            for manifest in filter(attrgetter("is_crd"), manifests(part)):
                if manifest.is_template:
                    unread.append(Unreadable(source, "a template", part.position(manifest.base), template=True))
                elif not manifest.is_fragment and manifest.api_version == CRD_API_VERSION and manifest.name:
                    found.setdefault(manifest.name, manifest)
    return found


def with_gone(report: Report, ruleset: Ruleset) -> Report:
    """Add a finding for each earlier CRD that is in no file of the report, at the place where it was.

    What stands in a text that can't be read any more is not gone: the rules about files have their say of it.
    """
    rule = next((rule for rule in ruleset.rules if rule.id == GONE), None)
    if rule is None:
        return report
    gone = (
        Finding(
            file=old.document.source.file,
            line=old.document.position(old.base).line,
            column=1,
            rule=rule.id,
            severity=rule.severity,
            message=removed(name).message,
            crd=name,
        )
        for name, old in ruleset.before.items()
        if name not in report.checked | report.unread
    )
    judged = [found for finding in gone if (found := ruleset.for_file(finding.file).judge(finding))]
    return dataclasses.replace(report, findings=tuple(sorted([*report.findings, *judged])))


def only_changed(report: Report, ruleset: Ruleset, lines: Mapping[str, frozenset[int]]) -> Report:
    """Leave out findings at lines that did not change; ``lines`` are those that did, by the real path of their file.

    What stands in none of these files is kept: it is new, or was made just now. So is what the rules about changes
    say, wherever it stands: what is gone has no line.
    """
    about_changes = {rule.id for rule in ruleset.known if rule.subject is Evolution}

    def changed(finding: Finding) -> bool:
        found = lines.get(os.path.realpath(finding.file))
        return finding.rule in about_changes or found is None or finding.line in found

    return dataclasses.replace(report, findings=tuple(filter(changed, report.findings)))
