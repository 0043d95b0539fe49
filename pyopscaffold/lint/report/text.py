"""The report for people: one block a finding, with the line it is about."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pyopscaffold.lint.finding import Finding, Report, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyopscaffold.lint.ruleset import Ruleset

    Paint = Callable[[str, str], str]

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.INFO: "36"}
_BOLD, _DIM = "1", "2"
_WIDEST = 160
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # a file's text is not to steer the terminal
_TOKEN = re.compile(r"\S[^\s:]*")


def render(report: Report, *, colour: bool = False) -> str:
    """Render the report; findings of one rule in one subtree of a version are folded into one."""
    paint = _paint if colour else _plain
    blocks = [_block(group, paint) for group in _folded(report.findings)]
    return "\n".join([*blocks, *_skipped(report), summary(report)]) + "\n"


def statistics(report: Report, *, colour: bool = False) -> str:
    """Render how many findings each rule has, most first, and in how many CRDs."""
    paint = _paint if colour else _plain
    counts = Counter(finding.rule for finding in report.findings)
    lines = []
    for rule, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        found = [finding for finding in report.findings if finding.rule == rule]
        worst = min((finding.severity for finding in found), key=tuple(Severity).index)
        crds = _count(len({finding.crd for finding in found if finding.crd}), "CRD")
        lines.append(f"{count:6} {paint(rule, _BOLD)} {paint(worst, _COLOURS[worst])} in {crds}")
    return "\n".join([*lines, *_skipped(report), summary(report)]) + "\n"


def rule_table(ruleset: Ruleset) -> str:
    """Render the rules that are on, a line each."""
    rules = list(ruleset.rules)
    width = max(len(rule.name) for rule in rules)
    return "".join(
        f"{rule.id}  {rule.name:{width}}  {rule.severity:7}  {rule.profile.name.lower():9}  {rule.what}\n"
        for rule in rules
    )


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(text: str, code: str) -> str:  # noqa: ARG001 - the same shape as _paint
    return text


def _folded(findings: tuple[Finding, ...]) -> Iterator[list[Finding]]:
    """Group what repeats, each group at the place of its first finding."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for index, finding in enumerate(findings):
        subtree = _subtree(finding.field)
        key = (finding.rule, finding.file, finding.crd, finding.version, subtree or str(index))
        groups.setdefault(key, []).append(finding)
    yield from groups.values()


def _subtree(field: str) -> str:
    """``.spec.template.spec.x[]`` → ``.spec.template``."""
    return ".".join(field.split(".")[:3]).rstrip("[]{}")


def _block(group: list[Finding], paint: Paint) -> str:
    first = group[0]
    message = _CONTROL.sub(" ", first.message)
    place = paint(f"{first.file}:{first.line}:{first.column}", _BOLD)
    more = f" (×{len(group)} under {_subtree(first.field)})" if len(group) > 1 else ""
    lines = [f"{place} {first.rule} {paint(first.severity, _COLOURS[first.severity])} {message}{paint(more, _DIM)}"]
    return "\n".join([*lines, *_snippet(first, paint)])


def _snippet(finding: Finding, paint: Paint) -> Iterator[str]:
    """Show the line and carets under what stands at the finding's column."""
    line = _CONTROL.sub(" ", finding.snippet)
    if not line.strip():
        return
    start = min(finding.column - finding.snippet_column, len(line))
    cut = max(0, start - _WIDEST // 2)
    token = _TOKEN.match(line, start)
    length = min(token.end() - start if token else 1, _WIDEST // 2)
    number = str(finding.line)
    yield f"  {paint(number, _DIM)} {paint('|', _DIM)} {line[cut : cut + _WIDEST].rstrip()}"
    marks = " " * (start - cut) + paint("^" * length, _COLOURS[finding.severity])
    yield f"  {' ' * len(number)} {paint('|', _DIM)} {marks}"


def _skipped(report: Report) -> Iterator[str]:
    for reason in sorted({part.reason for part in report.skipped}):
        places = [f"{part.file}:{part.line}" for part in report.skipped if part.reason == reason]
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        yield f"not checked, {reason}: {places[0]}{more}"


def summary(report: Report) -> str:
    """Say in a line what was checked, and how much was found."""
    checked = (
        f"{_count(report.crds, 'CRD')} in {_count(report.files, 'file')} checked by {_count(report.rules, 'rule')}"
    )
    found = [_count(report.count(severity), severity) for severity in Severity if report.count(severity)]
    aside = [f"{report.fixed} fixed"] if report.fixed else []
    aside += [f"{report.baselined} in the baseline"] if report.baselined else []
    return f"{checked}: {', '.join(found) or 'no findings'}" + (f" ({', '.join(aside)})" if aside else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == Severity.INFO else f"{number} {noun}s"
