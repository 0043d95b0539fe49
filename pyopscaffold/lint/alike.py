"""Which lines of a text come from which of another, as a template's result and the template.

Lines that both have once are matched first, as far as their order agrees (Bram Cohen's patience diff), then what is
between two of them in the same way. It takes a time that grows with the lines, not with their square.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_SMALL = 10_000
"""Pairs of lines that are compared each with each."""


class _Range(NamedTuple):
    """Lines of both texts; ``begun`` and ``ended`` say whether what is around them has been matched."""

    made: range
    source: range
    begun: bool = False
    ended: bool = False


def same_lines(made: Sequence[str], source: Sequence[str]) -> dict[int, int]:
    """Map lines of a text to those of its source that they come from, both from 1; those made anew are left out."""
    found: dict[int, int] = {}
    pending = [_Range(range(len(made)), range(len(source)))]
    while pending:
        part = _trimmed(pending.pop(), made, source, found)
        anchors = _anchors(part, made, source)
        if not anchors and part.begun and part.ended and len(part.made) * len(part.source) <= _SMALL:
            anchors = _compared(part, made, source)
            found.update((here + 1, there + 1) for here, there in anchors)
        elif anchors:
            starts = [(part.made.start, part.source.start), *anchors]
            ends = [*anchors, (part.made.stop, part.source.stop)]
            pending += [
                _Range(
                    range(start[0], end[0]),
                    range(start[1], end[1]),
                    part.begun or index > 0,
                    part.ended or end != ends[-1],
                )
                for index, (start, end) in enumerate(zip(starts, ends, strict=True))
            ]
    return found


def _trimmed(part: _Range, made: Sequence[str], source: Sequence[str], found: dict[int, int]) -> _Range:
    """Match what is alike next to what has been matched, and return the rest."""
    (here, last), (there, end) = ((lines.start, lines.stop) for lines in part[:2])
    while part.begun and here < last and there < end and made[here] == source[there]:
        here, there = here + 1, there + 1
        found[here] = there
    while part.ended and here < last and there < end and made[last - 1] == source[end - 1]:
        found[last] = end
        last, end = last - 1, end - 1
    return part._replace(made=range(here, last), source=range(there, end))


def _anchors(part: _Range, made: Sequence[str], source: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest row of pairs of lines that each text has once."""
    ours, theirs = (Counter(text[at] for at in lines) for text, lines in ((made, part.made), (source, part.source)))
    where = {source[at]: at for at in part.source if theirs[source[at]] == 1 and source[at].strip()}
    pairs = [(at, where[made[at]]) for at in part.made if ours[made[at]] == 1 and made[at] in where]
    ends: list[int] = []
    rows: list[int] = []
    before: list[int] = []
    for index, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        before.append(rows[length - 1] if length else -1)
        ends[length : length + 1], rows[length : length + 1] = [there], [index]
    row, index = [], rows[-1] if rows else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _compared(part: _Range, made: Sequence[str], source: Sequence[str]) -> list[tuple[int, int]]:
    ours, theirs = ([text[at] for at in lines] for text, lines in ((made, part.made), (source, part.source)))
    blocks = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    return [
        (part.made.start + here + at, part.source.start + there + at)
        for here, there, size in blocks
        for at in range(size)
    ]
