"""Makes the edits that findings carry. Pure: text in, text out; what no edit is about stays as it is, to the byte.

What it leaves alone: fixes that are not safe, unless they are asked for, since they may make objects invalid that a
served version took; and edits of text that an alias repeats elsewhere. Only YAML and JSON are edited here; Python
source is :mod:`pyopscaffold.scaffold.fixes_in_python`'s.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from pyopscaffold.document.builder import line_starts
from pyopscaffold.document.editor import have_place, make_edits
from pyopscaffold.document.reader import Source
from pyopscaffold.errors import DocumentError
from pyopscaffold.lint import engine
from pyopscaffold.lint.finding import Edit, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyopscaffold.document.reader import Path
    from pyopscaffold.lint.ruleset import Ruleset

ROUNDS = 20
"""How often a file is looked at again although no less is found: fixes make room for others."""
_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)


@dataclass(frozen=True)
class Fixed:
    """A text after its fixes; ``made`` are the findings that they ended, ``stuck`` those that can't be edited."""

    text: str
    made: tuple[Finding, ...]
    stuck: tuple[Finding, ...]


def fix(source: Source, check: Callable[[Source], Iterable[Finding]], *, unsafe: bool = False) -> Fixed:
    """Fix what ``check`` finds, until it finds nothing more that can be; ``unsafe`` takes all fixes."""
    text = source.text
    made: list[Finding] = []
    stuck: dict[str, Finding] = {}
    fewest, left = sys.maxsize, ROUNDS
    while left:
        found = [
            finding
            for finding in check(Source(source.file, text))
            if is_fixable(finding, unsafe=unsafe) and name_of(finding) not in stuck
        ]
        fewest, left = (len(found), left) if len(found) < fewest else (fewest, left - 1)
        pieces = _pieces(text)
        starts = _first_lines(pieces)
        done: list[Finding] = []
        for index, piece in enumerate(pieces):
            within = list(_apart(it for it in found if bisect_right(starts, it.line) - 1 == index))
            pieces[index], refused = _made(piece, within, source.file)
            stuck.update((name_of(finding), finding) for finding in refused)
            done += [finding for finding in within if finding not in refused]
        after = "".join(pieces)
        if after == text:
            break
        text, made = after, made + done
    return Fixed(text, tuple(made), tuple(stuck.values()))


def mend(source: Source, ruleset: Ruleset, *, accepted: frozenset[str], unsafe: bool) -> Fixed:
    """Fix what the rules find, but for the keys of findings that are ``accepted``."""
    return fix(source, lambda it: unaccepted(it, ruleset, accepted), unsafe=unsafe)


def unaccepted(source: Source, ruleset: Ruleset, accepted: frozenset[str]) -> list[Finding]:
    """Check a source; findings whose keys are ``accepted`` are left out."""
    return [it for it in sorted(engine.check(source, ruleset).findings) if it.key(it.file) not in accepted]


def is_fixable(finding: Finding, *, unsafe: bool = False) -> bool:
    """Whether a finding has a fix that may be made."""
    return finding.fix is not None and (unsafe or finding.fix.safe)


def name_of(finding: Finding) -> str:
    """Return what stays the same about a finding from round to round."""
    return f"{finding.key(finding.file)} {finding.message}"


def _apart(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out what is about a place that another one is about as well: it was made for what was there before."""
    taken: set[Path] = set()
    above: set[Path] = set()
    for finding in findings:
        paths = {edit.path for edit in _edits(finding)}
        leading = {path[:length] for path in paths for length in range(len(path) + 1)}
        if not paths & above and not leading & taken:
            taken |= paths
            above |= leading
            yield finding


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix else ()


def _pieces(text: str) -> list[str]:
    """Cut a text into its documents."""
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(text) if match.start())]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _first_lines(pieces: list[str]) -> list[int]:
    """Return the lines at which the pieces begin, counted as those of findings are."""
    return list(accumulate((len(line_starts(piece)) - 1 for piece in pieces[:-1]), initial=1))


def _made(text: str, findings: list[Finding], file: str) -> tuple[str, list[Finding]]:
    """Make the fixes of one document, all at once where that goes; return the text and the findings that stay."""
    if not findings:
        return text, []
    try:
        return make_edits(text, [edit for finding in findings for edit in _edits(finding)], file=file), []
    except DocumentError:
        placed, refused = _parted(text, findings, file)
    if refused:
        text, more = _made(text, placed, file)
        return text, refused + more
    if len(findings) == 1:
        return _made_in_turn(text, findings[0], file)
    half = len(findings) // 2
    text, first = _made(text, findings[:half], file)
    text, second = _made(text, findings[half:], file)
    return text, first + second


def _parted(text: str, findings: list[Finding], file: str) -> tuple[list[Finding], list[Finding]]:
    """Part the findings by whether the text has places for their edits."""
    pairs = [(finding, edit) for finding in findings for edit in _edits(finding)]
    try:
        placed = have_place(text, [edit for _, edit in pairs], file=file)
    except DocumentError:
        return [], findings
    refused = {id(finding) for (finding, _), is_placed in zip(pairs, placed, strict=True) if not is_placed}
    return [it for it in findings if id(it) not in refused], [it for it in findings if id(it) in refused]


def _made_in_turn(text: str, finding: Finding, file: str) -> tuple[str, list[Finding]]:
    """Make the edits of one fix, of which one may make the room of another."""
    after = text
    try:
        for edit in _edits(finding):
            after = make_edits(after, [edit], file=file)
    except DocumentError:
        return text, [finding]
    return after, []
