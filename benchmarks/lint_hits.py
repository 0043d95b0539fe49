"""What rules find in real CRDs, to be read by eye: the hits of each rule, and ten of them with their text.

    python benchmarks/lint_hits.py [--folder FOLDER] [--read N] [RULE…]

Without rules, all are counted and none is shown. A CRD that stands in several files is counted once, and the choice is
by a fixed seed, so that everybody reads the same ones: docs/lint-precision.md has the verdicts.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING

from pyopscaffold.lint.engine import lint
from pyopscaffold.lint.registry import builtin
from pyopscaffold.lint.rule import Profile
from pyopscaffold.loader.manifests import load_sources

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.finding import Finding

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
SEED = 7
LINES = 8
_NO_CRDS = ("testdata/", "templates/")  # fixtures that are broken on purpose, and what a renderer still has to fill in


def _is_real(source: Source) -> bool:
    return not any(part in source.file for part in _NO_CRDS)


def unique(findings: tuple[Finding, ...]) -> dict[str, list[Finding]]:
    """Give the findings by rule, each once however many copies of the CRD there are."""
    found: dict[str, dict[tuple[str, ...], Finding]] = {}
    for finding in findings:
        key = (finding.crd, finding.version, finding.field, finding.message)
        found.setdefault(finding.rule, {}).setdefault(key, finding)
    return {rule: list(hits.values()) for rule, hits in found.items()}


def sample(findings: list[Finding], count: int) -> list[Finding]:
    """Draw some, in the order of their places: of one type that stands in many places of a project one hit a field.

    Where that leaves too few, others make up for them.
    """
    draw = random.Random(SEED)  # noqa: S311 - no secret
    different = {(hit.crd.partition(".")[2], _tail(hit.field or hit.crd)): hit for hit in reversed(findings)}
    chosen = draw.sample(list(different.values()), min(count, len(different)))
    others = [hit for hit in findings if hit not in chosen]
    return sorted([*chosen, *draw.sample(others, min(count - len(chosen), len(others)))])


def _tail(field: str) -> str:
    return ".".join(field.split(".")[-2:])


def show(finding: Finding, source: Source, lines: int) -> None:
    """Print a finding and the lines from its place on."""
    name = "/".join(finding.file.rsplit("/", 3)[1:])
    print(
        f"{finding.rule} {finding.severity} {name}:{finding.line} {finding.crd} {finding.version}\n  {finding.message}"
    )
    start = finding.line - 1
    for line in source.lines[start : start + lines]:
        print(f"    | {line[:150]}")
    print()


def main() -> None:
    """Count, and show what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="*")
    parser.add_argument("--folder", default=str(CORPUS))
    parser.add_argument("--read", type=int, default=10)
    parser.add_argument("--lines", type=int, default=LINES)
    arguments = parser.parse_args()
    sources = {source.file: source for source in load_sources([arguments.folder]) if _is_real(source)}
    rules = builtin().choose(profile=Profile.OPT_IN, select=arguments.rules)
    found = unique(lint(sources.values(), rules).findings)
    for rule in rules:
        hits = found.get(rule.id, [])
        print(f"{rule.id} {rule.name}: {len(hits)} hits in {len({hit.crd for hit in hits})} CRDs")
        if arguments.rules:
            for hit in sample(hits, arguments.read):
                show(hit, sources[hit.file], arguments.lines)


if __name__ == "__main__":
    main()
