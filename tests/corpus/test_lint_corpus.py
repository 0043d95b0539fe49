from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.finding import Report, Severity
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.report import json as json_report
from pyopscaffold.lint.report import text as text_report
from pyopscaffold.lint.rule import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.xdist_group("corpus")

_NOT_SHIPPED = ("testdata/", "patch.json", "README.md", "templates/")


def shipped(sources: Sequence[Source]) -> list[Source]:
    """Leave out fixtures that are broken on purpose, patches, templates and prose."""
    return [source for source in sources if not any(part in source.file for part in _NOT_SHIPPED)]


@pytest.fixture(scope="session")
def everything(corpus: tuple[Source, ...]) -> Report:
    """Give the report of all rules over all files."""
    return lint(corpus, builtin().choose(profile=Profile.OPT_IN))


def test_every_file_is_answered(everything: Report, corpus: tuple[Source, ...]) -> None:
    """No file of the corpus, Helm templates and broken fixtures included, stops the linter."""
    assert everything.files == len(corpus)
    assert everything.crds > 100
    lines = {source.file: source.lines for source in corpus}
    for finding in everything.findings:
        assert finding.snippet in lines[finding.file][finding.line - 1]
        assert 0 <= finding.column - finding.snippet_column <= len(finding.snippet)


def test_no_shipped_crd_is_said_to_be_refused(corpus: tuple[Source, ...]) -> None:
    """API servers take all of these, so a rule about what a server refuses is wrong if it finds anything."""
    report = lint(shipped(corpus), builtin().choose(profile=Profile.APISERVER))
    assert report.crds > 90
    assert [f"{finding.file}:{finding.line} {finding.rule} {finding.message}" for finding in report.findings] == []


def test_helm_templates_are_skipped_by_name(everything: Report) -> None:
    """Each template of cert-manager's chart is listed as not checked."""
    templates = {part.file for part in everything.skipped if part.reason == "template"}
    assert len([file for file in templates if "/charts/cert-manager/templates/" in file]) == 6


def test_rules_tell_designs_apart(everything: Report) -> None:
    """A rule that fires on every CRD, or a family that fires on none, says nothing about design."""
    for rule in ("CO04", "SU01", "DE01", "ST12", "VA01", "UX01"):
        hit = {(finding.file, finding.crd) for finding in everything.findings if finding.rule == rule}
        assert 0 < len(hit) < everything.crds, rule


def test_text_folds_what_repeats(everything: Report) -> None:
    """Thousands of findings in generated subtrees become a readable number of blocks."""
    rendered = text_report.render(everything)
    blocks = sum(1 for line in rendered.splitlines() if line[:1].strip())
    assert blocks < len(everything.findings) / 4


def test_json_counts_what_it_lists(everything: Report) -> None:
    """The summary agrees with the list, by severity."""
    content = json.loads(json_report.render(everything))
    for severity in (Severity.ERROR, Severity.WARNING):
        listed = sum(finding["severity"] == severity for finding in content["findings"])
        assert content["summary"][f"{severity}s"] == listed


def test_both_parsers_read_the_corpus_alike(corpus: tuple[Source, ...]) -> None:
    """Without libyaml the same data is at the same places; a few files stand for all, since it is slow."""
    for source in [source for source in corpus if 10_000 < len(source.text) < 40_000][:12]:
        fast, slow = scan(source), scan(source, pure=True)
        assert [part.data for part in fast if isinstance(part, Document)] == [
            part.data for part in slow if isinstance(part, Document)
        ]
        paths = [
            ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", name) for name in ("spec", "status")
        ]
        for one, other in zip(fast, slow, strict=True):
            if isinstance(one, Document) and isinstance(other, Document):
                assert [one.position(path) for path in paths] == [other.position(path) for path in paths]
