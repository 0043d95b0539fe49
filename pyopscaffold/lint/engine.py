"""Runs rules over sources. Pure: text in, report out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyopscaffold.document.reader import Document, Unreadable, scan
from pyopscaffold.lint.finding import Finding, Report, Skipped
from pyopscaffold.lint.subject import CRD_API_VERSION, Crd, File, Manifest, Version, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.registry import Registry
    from pyopscaffold.lint.rule import Hit, Rule


def lint(sources: Iterable[Source], rules: Registry) -> Report:
    """Check every CRD, and every other manifest that a rule knows, in the sources."""
    run = _Run(rules)
    for source in sources:
        run.check(source)
    return Report(
        findings=tuple(sorted(run.findings)),
        skipped=tuple(sorted(run.skipped)),
        files=run.files,
        crds=run.crds,
        rules=len(rules),
    )


class _Run:
    """The state of one run."""

    def __init__(self, rules: Registry) -> None:
        self.findings: list[Finding] = []
        self.skipped: list[Skipped] = []
        self.files = 0
        self.crds = 0
        self._rules: dict[type, list[Rule[Any]]] = {}
        for rule in rules:
            self._rules.setdefault(rule.subject, []).append(rule)

    def check(self, source: Source) -> None:
        """Check one file."""
        self.files += 1
        file = File(source, scan(source))
        self._apply(file, source)
        for part in file.parts:
            if isinstance(part, Document):
                for manifest in _manifests(part):
                    self._manifest(manifest)
            elif part.template:
                self._skip(part, "template")

    def _skip(self, part: Unreadable | Manifest, reason: str) -> None:
        if isinstance(part, Unreadable):
            source, line = part.source, part.position.line
        else:
            source, line = part.document.source, part.document.position(part.base).line
        self.skipped.append(Skipped(source.file, line, reason))

    def _manifest(self, manifest: Manifest) -> None:
        if manifest.is_crd and manifest.is_template:
            self._skip(manifest, "template")
            return
        if manifest.is_crd and manifest.is_fragment:
            self._skip(manifest, "kustomize patch")
            return
        self._apply(manifest, manifest.document.source, manifest)
        if not manifest.is_crd:
            return
        self.crds += 1
        if manifest.api_version == CRD_API_VERSION:
            crd = Crd(manifest)
            self._apply(crd, manifest.document.source, manifest)
            for version in crd.versions:
                self._apply(version, manifest.document.source, manifest, version)

    def _apply(
        self, subject: Any, source: Source, manifest: Manifest | None = None, version: Version | None = None
    ) -> None:
        for rule in self._rules.get(type(subject), ()):
            for hit in rule.hits(subject):
                self.findings.append(_finding(rule, hit, source, manifest, version))


def _manifests(document: Document) -> Iterator[Manifest]:
    """Iterate over the objects of a document; a ``List`` stands for its items, as in ``kubectl get -o yaml``."""
    if not isinstance(document.data, dict):
        return
    whole = Manifest(document, (), document.data)
    if not whole.kind.endswith("List") or not isinstance(whole.data.get("items"), list):
        yield whole
        return
    for index, item in enumerate(listing(whole.data["items"])):
        if isinstance(item, dict):
            yield Manifest(document, ("items", index), item)


def _finding(rule: Rule[Any], hit: Hit, source: Source, manifest: Manifest | None, version: Version | None) -> Finding:
    if hit.position is None and manifest is not None:
        line, column = manifest.document.position((*manifest.base, *hit.path))
    else:
        line, column = hit.position or (1, 1)
    return Finding(
        file=source.file,
        line=line,
        column=column,
        rule=rule.id,
        severity=hit.severity or rule.severity,
        message=hit.message,
        crd=manifest.name if manifest else "",
        version=version.name if version else "",
        field=hit.field,
        snippet=source.lines[line - 1] if line <= len(source.lines) else "",
    )
