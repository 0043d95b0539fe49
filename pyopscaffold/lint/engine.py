"""Runs rules over sources. Pure: text in, report out."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.document.builder import Position
from pyopscaffold.document.reader import Document, scan
from pyopscaffold.lint.derived import Derived, origin, origins
from pyopscaffold.lint.evolution import Evolution
from pyopscaffold.lint.finding import Failure, Finding, Report, Severity, Skipped
from pyopscaffold.lint.ruleset import Ruleset
from pyopscaffold.lint.subject import CRD_API_VERSION, Crd, File, Manifest, Version, manifests
from pyopscaffold.lint.suppress import MOST, Suppression, Suppressions, heeded, in_manifest, in_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.registry import Registry
    from pyopscaffold.lint.rule import Fix, Hit, Rule

LONGEST = 1_000
"""Characters of a message, and of a line that is shown: one line of JSON may be a whole CRD, with many findings."""


@dataclass(kw_only=True)
class Outcome:
    """What came of one file."""

    findings: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    checked: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    crds: int = 0


def lint(sources: Iterable[Source], rules: Registry | Ruleset) -> Report:
    """Check every CRD, and every other manifest that a rule knows, in the sources."""
    ruleset = rules if isinstance(rules, Ruleset) else Ruleset.of(rules)
    return report((check(source, ruleset) for source in sources), ruleset)


def check(source: Source, ruleset: Ruleset) -> Outcome:
    """Check one file."""
    run = _Run(source, ruleset)
    run.check()
    return run.outcome


def report(outcomes: Iterable[Outcome], ruleset: Ruleset) -> Report:
    """Put together what came of all files; what was found twice, as of a package and a module in it, is told once."""
    found = tuple(outcomes)
    # Of two that are alike the later stays: it is of a file that can be fixed where the other was rendered of it.
    findings = {finding: finding for outcome in found for finding in outcome.findings}
    return Report(
        findings=tuple(sorted(findings.values())),
        skipped=tuple(sorted(part for outcome in found for part in outcome.skipped)),
        failures=tuple(sorted(failure for outcome in found for failure in outcome.failures)),
        checked=frozenset(name for outcome in found for name in outcome.checked),
        unread=frozenset(name for outcome in found for name in outcome.unread),
        files=len(found),
        crds=sum(outcome.crds for outcome in found),
        rules=len(ruleset.rules),
    )


class _Run:
    """The state of checking one file; ``_hits`` holds each finding with its rule and manifest."""

    def __init__(self, source: Source, ruleset: Ruleset) -> None:
        self.outcome = Outcome()
        self._source = source
        self._ruleset = ruleset
        self._rules = ruleset.by_subject(source)
        self._before = ruleset.before
        self._hits: list[tuple[Finding, Rule[Any], Manifest | None]] = []
        self._is_whole = True
        self._suppressions = [wish for text in origins(source) for wish in in_text(text)]

    def check(self) -> None:
        file = File(self._source, scan(self._source))
        self.outcome.checked.add(self._source.file)
        self._apply(file)
        for part in file.parts:
            if isinstance(part, Document):
                for manifest in manifests(part):
                    self._manifest(manifest)
                continue
            self.outcome.unread |= {name for name in self._before if name in self._source.text}
            if part.template:
                self._skip(part.position.line, "template")
            elif File not in self._rules:
                self._skip(part.position.line, "not readable")
        self._is_whole = not self.outcome.skipped and all(isinstance(part, Document) for part in file.parts)
        self._report()

    def _report(self) -> None:
        """Take over what is not suppressed, and then what there is to say about the suppressions."""
        found = Suppressions(tuple(self._suppressions), (), self._ruleset.known)
        self.outcome.findings += [
            finding for finding, rule, manifest in self._hits if not found.hide(finding, rule, manifest)
        ]
        self._hits.clear()
        used = {wish for wish, _ in found.used}
        told = [wish for wish in found.found if wish in used or self._is_judged(wish)]
        for source in {id(wish.source): wish.source for wish in told}.values():
            part = tuple(wish for wish in told if wish.source is source)
            able = filter(self._ruleset.can_find, self._ruleset.for_file((source or self._source).file).rules)
            self._apply(replace(found, found=part, rules=tuple(able)), source=source)
        self.outcome.findings += [finding for finding, *_ in self._hits]

    def _is_judged(self, wish: Suppression) -> bool:
        """Whether the rules have seen what a suppression is about, so that it is known to hide nothing."""
        if wish.source is None:
            return True
        if isinstance(self._source, Derived):
            places = self._source.places.values()
            return any(place.source is wish.source and place.line in wish.lines for place in places)
        return self._is_whole

    def _is_excluded(self, file: str) -> bool:
        """Whether a file was met on the way, as a module of a package is, that the configuration excludes."""
        excluded = self._ruleset.config.excludes(file)
        return excluded and os.path.abspath(file) != os.path.abspath(self._source.file)  # noqa: PTH100 - resolve() asks the disk

    def _skip(self, line: int, reason: str) -> None:
        self.outcome.skipped.append(Skipped(self._source.file, line, reason))

    def _manifest(self, manifest: Manifest) -> None:
        if manifest.is_crd and (manifest.is_template or manifest.is_fragment):
            line = manifest.document.position(manifest.base).line
            self._skip(line, "template" if manifest.is_template else "kustomize patch")
            self.outcome.unread |= {manifest.name} if manifest.is_template else set()
            return
        if manifest.name:
            self.outcome.checked.add(manifest.name)
        self._suppressions += heeded(in_manifest(manifest), most=MOST - len(self._suppressions))
        self._apply(manifest, manifest)
        if not manifest.is_crd:
            return
        self.outcome.crds += 1
        if manifest.api_version == CRD_API_VERSION:
            crd = Crd(manifest)
            self._apply(crd, manifest)
            for version in crd.versions:
                self._apply(version, manifest, version)
            if evolution := Evolution.since(self._before, crd):
                self._apply(evolution, manifest)

    def _apply(
        self,
        subject: Any,
        manifest: Manifest | None = None,
        version: Version | None = None,
        source: Source | None = None,
    ) -> None:
        for rule in self._rules.get(type(subject), ()):
            try:
                hits = [_finding(rule, hit, source or self._source, manifest, version) for hit in rule.hits(subject)]
            except Exception as error:  # noqa: BLE001 - one broken rule must not hide what the others find
                line = manifest.document.position(manifest.base).line if manifest else 1
                self.outcome.failures.append(Failure(self._source.file, line, rule.id, _explained(error)))
            else:
                kept = [finding for finding in hits if not self._is_excluded(finding.file)]
                judged = (self._ruleset.for_file(finding.file).judge(finding) for finding in kept)
                self._hits += [(finding, rule, manifest) for finding in judged if finding]


def _finding(rule: Rule[Any], hit: Hit, source: Source, manifest: Manifest | None, version: Version | None) -> Finding:
    if hit.position is None and manifest is not None:
        position = manifest.document.position((*manifest.base, *hit.path))
    else:
        position = hit.position or Position(1, 1)
    author, (line, column) = origin(source, position)
    snippet, snippet_column = _snippet(author.lines[line - 1], column) if line <= len(author.lines) else ("", 1)
    return Finding(
        file=author.file,
        line=line,
        column=column,
        rule=rule.id,
        severity=Severity(hit.severity or rule.severity),
        message=hit.message if len(hit.message) <= LONGEST else f"{hit.message[:LONGEST]}...",
        crd=manifest.name if manifest else "",
        version=version.name if version else "",
        field=hit.field,
        snippet=snippet,
        snippet_column=snippet_column,
        fix=None if isinstance(source, Derived) and not source.can_be_fixed else _in_document(hit.fix, manifest),
    )


def _in_document(fix: Fix | None, manifest: Manifest | None) -> Fix | None:
    """Have the paths of edits lead from the root of the document, which may be a ``List``."""
    if fix is None or manifest is None or not manifest.base:
        return fix
    return replace(fix, edits=tuple(edit._replace(path=(*manifest.base, *edit.path)) for edit in fix.edits))


def _snippet(line: str, column: int) -> tuple[str, int]:
    """Return what to show of a line, and the column at which that begins; question marks are for what is no text."""
    start = max(0, column - 1 - LONGEST // 2) if len(line) > LONGEST else 0
    shown = line[start : start + LONGEST] if len(line) > LONGEST else line
    return shown if shown.isascii() else shown.encode("utf-8", "replace").decode("utf-8"), start + 1


def _explained(error: Exception) -> str:
    """Say what went wrong in a rule, and where in its code."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{what} ({place.filename.rpartition('/')[2]}:{place.lineno})"
