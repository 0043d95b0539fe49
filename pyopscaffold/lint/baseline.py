"""The baseline: findings that are put up with for now. It may only shrink.

A finding is known by its rule, the CRD and version, and the field, never by its line; several of one kind are counted.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.errors import DocumentError
from pyopscaffold.kube.values import mapping
from pyopscaffold.lint.finding import Finding, Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.ruleset import Ruleset

FORMAT_VERSION = 1
_ANOTHER = "mend it, or name another file: --write-baseline makes it"


@dataclass(frozen=True)
class Stale:
    """An entry that lists more than is found."""

    key: str
    line: int
    listed: int
    found: int


@dataclass(frozen=True)
class Comparison:
    """What a run found beside what the baseline lists."""

    stale: tuple[Stale, ...]


@dataclass(frozen=True)
class Baseline:
    """How often each finding is put up with, by its key; ``lines`` tells where in the file it stands."""

    source: Source
    counts: Mapping[str, int]
    lines: Mapping[str, int]

    def key(self, finding: Finding) -> str:
        """Return what stays the same about a finding while its file is edited."""
        return finding.key(self._relative(finding.file))

    def _relative(self, file: str) -> str:
        return os.path.relpath(file, Path(self.source.file).parent).replace(os.sep, "/")

    def compare(self, report: Report, ruleset: Ruleset) -> Report:
        """Leave out what the baseline lists; what is found more often than it says is kept, all of a kind.

        Entries that list more than was found are reported by the rules about a :class:`Comparison`, selected or not,
        unless they are ignored. Only entries of rules that ran, and of CRDs and files that were checked, are judged.
        """
        found, judged = Counter(map(self.key, report.findings)), self._judged(report, ruleset)
        kept = tuple(finding for finding in report.findings if found[self.key(finding)] > self._listed(finding))
        stale = tuple(
            Stale(key, self.lines[key], count, found[key])
            for key, count in self.counts.items()
            if count > found[key] and key in judged
        )
        findings = sorted([*kept, *self._report(Comparison(stale), ruleset)])
        return dataclasses.replace(report, findings=tuple(findings), baselined=len(report.findings) - len(kept))

    def shrunk(self, report: Report, ruleset: Ruleset) -> str:
        """Return the text of the baseline without what is no longer found; ``report`` is the whole one."""
        found, judged = Counter(map(self.key, report.findings)), self._judged(report, ruleset)
        return render({key: min(count, found[key]) if key in judged else count for key, count in self.counts.items()})

    def of(self, report: Report) -> str:
        """Return the text of a baseline that lists all findings of a report."""
        return render(Counter(map(self.key, report.findings)))

    def _listed(self, finding: Finding) -> int:
        return self.counts.get(self.key(finding), 0)

    def _judged(self, report: Report, ruleset: Ruleset) -> set[str]:
        """Return the keys of which this run can tell whether they are still found."""
        off = {rule.id for rule in ruleset.known} - {rule.id for rule in filter(ruleset.can_find, ruleset.rules)}
        checked = {*report.checked, *map(self._relative, report.checked)}
        judged = set()
        for key in self.counts:
            rule, *words = key.split(" ")
            names = accumulate(words, "{} {}".format)  # a file's name may have spaces, a field may follow or not
            if rule not in off and any(name in checked or name.rpartition("/")[0] in checked for name in names):
                judged.add(key)
        return judged

    def _report(self, comparison: Comparison, ruleset: Ruleset) -> Iterator[Finding]:
        for rule in ruleset.known:
            if rule.subject is not Comparison or ruleset.config.selection.drops(rule):
                continue
            for hit in rule.hits(comparison):
                line, column = hit.position or (1, 1)
                yield Finding(
                    file=self.source.file,
                    line=line,
                    column=column,
                    rule=rule.id,
                    severity=ruleset.severity(rule),
                    message=hit.message,
                    snippet=self.source.lines[line - 1],
                )


def parse(source: Source) -> Baseline:
    """Read the text of a baseline.

    Raises:
        DocumentError: it is none.

    """
    parts = scan(source)
    document = parts[0] if len(parts) == 1 else None
    if not isinstance(document, Document):
        line = document.position.line if document else 1
        raise DocumentError(f"{source.file}:{line}: no baseline: not one JSON object", hint=_ANOTHER)
    content = mapping(document.data)
    counts = content.get("findings")
    if content.get("version") != FORMAT_VERSION or not isinstance(counts, dict):
        raise DocumentError(f"{source.file}: no baseline of this version", hint=_ANOTHER)
    for key, count in counts.items():
        if type(count) is not int or count < 1:
            line = document.position(("findings", key)).line
            raise DocumentError(f"{source.file}:{line}: {key}: must be a count")
    return Baseline(source, counts, {key: document.position(("findings", key)).line for key in counts})


def render(counts: Mapping[str, int]) -> str:
    """Write a baseline, an entry a line and sorted, so that git merges what two people change."""
    content = {"version": FORMAT_VERSION, "findings": {key: counts[key] for key in sorted(counts) if counts[key]}}
    return json.dumps(content, indent=2) + "\n"
