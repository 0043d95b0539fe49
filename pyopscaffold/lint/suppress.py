"""Suppressions: what the author of a file, or of a manifest, asks not to be told of, and why.

A comment ``# lint-crd: ignore[VA01] the reason`` is about the block that its line begins, or the next line does where
it stands alone: a key and all that is below it, a list item, a class, also from above its decorators. An annotation
``lint-crd.pyopscaffold.dev/ignore-VA01: the reason`` is about its manifest; a reason may follow a field pattern, or
several with commas, and each line of the annotation is an entry of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyopscaffold.document.builder import Position
from pyopscaffold.document.reader import Source
from pyopscaffold.kube.values import mapping, text
from pyopscaffold.lint.globs import matches_field
from pyopscaffold.lint.rule import Rule
from pyopscaffold.lint.selection import match
from pyopscaffold.lint.subject import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyopscaffold.lint.finding import Finding

MOST = 1_000  # selectors, or patterns of fields, in one file: each is compared with each finding
_NEAR = 200  # lines within which a bracket or a decorator of Python leads to what it belongs to
ANNOTATION = "lint-crd.pyopscaffold.dev/ignore-"
_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*lint-crd:\s*(.*)$")
_IGNORE = re.compile(r"ignore\[([^\]]*)\]\s*[-:]*\s*(.*)$")


@dataclass(frozen=True, eq=False)
class Suppression:
    """One wish not to be told.

    ``selectors`` name the rules; none means that the comment can't be understood. A comment is about ``lines`` of its
    ``source``, an annotation about those ``fields`` of ``manifest`` that match a pattern, or about all where there is
    none.
    """

    selectors: tuple[str, ...]
    reason: str
    position: Position
    lines: range = range(0)
    manifest: Manifest | None = None
    fields: tuple[str, ...] = ()
    source: Source | None = None

    def hides(self, finding: Finding, rule: Rule[Any], manifest: Manifest | None) -> str:
        """Return the selector by which a finding is hidden, "" where it is not. Without a reason nothing is hidden."""
        if not self.reason:
            return ""
        if self.source is not None:
            meant = finding.line in self.lines and finding.file == self.source.file
        else:
            meant = manifest is self.manifest and (
                not self.fields or any(matches_field(pattern, finding.field) for pattern in self.fields)
            )
        return next((selector for selector in self.selectors if match(selector, rule)), "") if meant else ""


@dataclass(frozen=True)
class Suppressions:
    """The suppressions of a file, and what became of them.

    ``rules`` are the rules that could find something in the file, ``known`` all that there are. ``used`` holds the
    suppressions that hid something, each with the selector that did.
    """

    found: tuple[Suppression, ...]
    rules: tuple[Rule[Any], ...]
    known: tuple[Rule[Any], ...]
    used: set[tuple[Suppression, str]] = field(default_factory=set)

    def hide(self, finding: Finding, rule: Rule[Any], manifest: Manifest | None) -> bool:
        """Whether a finding is hidden; every suppression that would is used."""
        hiding = [(it, selector) for it in self.found if (selector := it.hides(finding, rule, manifest))]
        self.used.update(hiding)
        return bool(hiding)


def in_text(source: Source) -> tuple[Suppression, ...]:
    """Find the comments in a text, in any language whose comments begin with ``#``; see :func:`heeded`."""
    if "lint-crd:" not in source.text:
        return ()
    lines = source.lines
    comments = (
        _in_comment(source, at, found)
        for at, line in enumerate(lines)
        if "lint-crd:" in line and (found := _COMMENT.search(line))
    )
    wishes = heeded(comments)
    firsts = _firsts(lines, {wish.position.line - 1 for wish in wishes})
    firsts |= {at: _decorated(lines, _opened(lines, first)) for at, first in firsts.items()}
    blocks = blocks_at(lines, set(firsts.values()))
    return tuple(replace(wish, lines=blocks.get(firsts[wish.position.line - 1], range(0))) for wish in wishes)


def heeded(wishes: Iterable[Suppression], *, most: int = MOST) -> list[Suppression]:
    """Take as many as there is time to compare with each finding: more are no author's."""
    taken = []
    for wish in wishes:
        most -= max(1, len(wish.selectors), len(wish.fields))
        if most < 0:
            break
        taken.append(wish)
    return taken


def _in_comment(source: Source, at: int, comment: re.Match[str]) -> Suppression:
    wish = _IGNORE.match(comment[1])
    selectors = tuple(part.strip() for part in wish[1].split(",") if part.strip()) if wish else ()
    position = Position(at + 1, comment.start() + 1)
    return Suppression(selectors, wish[2].strip() if wish else "", position, source=source)


def in_manifest(manifest: Manifest) -> Iterator[Suppression]:
    """Iterate over the annotations of a manifest."""
    for key, value in mapping(mapping(manifest.data.get("metadata")).get("annotations")).items():
        if key.startswith(ANNOTATION):
            place = manifest.document.position((*manifest.base, "metadata", "annotations", key))
            for entry in text(value).strip().splitlines() or [""]:
                fields, _, reason = entry.strip().partition(" ") if entry.strip().startswith(".") else ("", "", entry)
                patterns = tuple(part for part in fields.removesuffix(":").split(",") if part)
                yield Suppression((key.removeprefix(ANNOTATION),), reason.strip(), place, range(0), manifest, patterns)


def _firsts(lines: Sequence[str], comments: set[int]) -> dict[int, int]:
    """Map the line of each comment to the one that begins its block: itself, or the next that says something."""
    firsts, following = {}, len(lines)
    for at in range(len(lines) - 1, -1, -1):
        if _says_something(lines[at]):
            following = at
        if at in comments:
            firsts[at] = following
    return firsts


def _says_something(line: str) -> bool:
    """Whether a line is more than a comment or a directive of a template, which stand as far left as they like."""
    return bool(line.strip()) and not line.lstrip().startswith(("#", "{{"))


def _opened(lines: Sequence[str], first: int) -> int:
    """Return the line on which the bracket was opened that ``first`` begins by closing, if it does, else ``first``."""
    if first == len(lines) or lines[first].lstrip()[:1] not in tuple(")]}"):
        return first
    before = range(first - 1, max(-1, first - _NEAR), -1)
    indent = _indent(lines[first])
    return next((at for at in before if _says_something(lines[at]) and _indent(lines[at]) <= indent), first)


def _decorated(lines: Sequence[str], first: int) -> int:
    """Return the line of the class whose decorator begins on ``first``, if one does, else ``first``."""
    if first == len(lines) or not lines[first].lstrip().startswith("@"):  # in YAML no value begins so
        return first
    head = " " * _indent(lines[first]) + "class "
    after = range(first, min(len(lines), first + _NEAR))
    return next((at for at in after if lines[at].startswith(head)), first)


def blocks_at(lines: Sequence[str], firsts: set[int]) -> dict[int, range]:
    """Map each line that begins a block to the numbers of the lines that belong to it by indentation."""
    blocks: dict[int, range] = {}
    open_ones: list[int] = []
    last = 0
    for at, line in enumerate([*lines, ""]):
        if not _says_something(line) and at < len(lines):
            continue
        while open_ones and (at == len(lines) or _ends(lines[open_ones[-1]], line)):
            first = open_ones.pop()
            blocks[first] = range(first + 1, last + 2)
        if at in firsts:
            open_ones.append(at)
        last = at
    return blocks


def _ends(first: str, line: str) -> bool:
    """Whether a line stands outside of the block that ``first`` began; a list may be as far left as its key."""
    indent, margin = _indent(line), _indent(first)
    return indent < margin or (indent == margin and (_is_item(first) or not _is_item(line)))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_item(line: str) -> bool:
    return line.lstrip().startswith("- ")
