"""The linter as a library is typed, though its names are loaded late. Checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_type

from pyopscaffold.lint import Config, Crd, FailOn, Finding, Hit, Profile, Report, Rule, Severity, Source, Version, lint

if TYPE_CHECKING:
    from collections.abc import Iterator

report = lint([Path("config"), "crd.yaml", Source("x.yaml", "a: 1\n")], config=Config(profile="strict", ignore=("VA",)))
assert_type(report, Report)
assert_type(report.findings, tuple[Finding, ...])
assert_type(report.findings[0].severity, Severity)
assert_type(report.findings[0].line, int)
assert_type(report.fails(FailOn.ERROR), bool)


@dataclass(frozen=True)
class Options:
    """Options of a rule of one's own."""

    longest: int = 3
    """Versions that are fine."""


def check(crd: Crd, options: Options) -> Iterator[Hit]:
    """Report CRDs with many versions."""
    assert_type(crd.versions, tuple[Version, ...])
    if len(crd.versions) > options.longest:
        yield Hit(("spec", "versions"), "too many versions")


rule = Rule(
    id="AC01",
    name="few-versions",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Crd,
    what="There are few versions.",
    why="Each is a form to convert.",
    check=check,
    good=(),
    bad=(),
    options=Options(),
)
assert_type(rule, Rule[Crd])
