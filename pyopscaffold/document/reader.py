"""Reads YAML and JSON text into plain JSON values that know where they stand.

Uses libyaml where PyYAML has it and PyYAML's own parser elsewhere; both give the same events. Whatever the text is,
:func:`scan` answers: a part that is no document becomes an :class:`Unreadable`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.document.builder import (
    Builder,
    DuplicateKey,
    Path,
    Position,
    Spot,
    SyntaxProblem,
    line_starts,
    place,
)
from pyopscaffold.document.scalars import resolve
from pyopscaffold.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Document", "DuplicateKey", "Path", "Position", "Source", "Unreadable", "read", "scan"]

_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_LATE_MARK = re.compile(r"^(---[ \t]*(?:#.*)?\r?\n)\ufeff", re.MULTILINE)
_TEMPLATE = re.compile(r"""(?:^|[-:,(\[{])[ \t]*["']?\{\{|\{\{[^{}\n"']*["']""", re.MULTILINE)
_UNDECODED = re.compile("[\0\udc80-\udcff]")
_UTF16 = re.compile("\udcff\udcfe|\udcfe\udcff|\0[!-~]|[!-~]\0")
_NO_YAML = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS_OF_YAML = re.compile("[\x85\u2028\u2029]")
_MERGE_TAG = "tag:yaml.org,2002:merge"
_RESOLVED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))


@dataclass(frozen=True)
class Source:
    """A text and the name under which a person knows it: a path, or ``<stdin>``.

    Bytes that are no UTF-8 stand in the text as Python's ``surrogateescape`` has them; ``fault`` says why there is no
    text.
    """

    file: str
    text: str = field(repr=False)
    fault: str = ""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, as editors count them."""
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"))


@dataclass(frozen=True)
class Document:
    """One document of a source. ``data`` is JSON: dict, list, str, int, float, bool or None."""

    source: Source
    data: Any
    duplicates: tuple[DuplicateKey, ...]
    _spot: Spot = field(repr=False)

    def position(self, path: Path = ()) -> Position:
        """Where the entry at ``path`` stands: its key in a mapping, its value in a list.

        Where the path ends early, the deepest part that is there answers.
        """
        position, spot = self._spot.position, self._spot
        for step in path:
            if step not in spot.children:
                break
            position, spot = spot.children[step]
        return position


@dataclass(frozen=True)
class Unreadable:
    """A part of a source that is no document.

    It is a ``template``, and never was meant to be one, when it has ``{{ }}`` where that breaks YAML: where a value or
    a line begins, or with quotes of its own. In the midst of a description it may be meant as it stands.
    """

    source: Source
    problem: str
    position: Position
    template: bool


def read(source: Source) -> tuple[Document, ...]:
    """Read all documents of a source, empty ones left out.

    Raises:
        DocumentError: a part can't be read, or a mapping has a key twice.

    """
    documents: list[Document] = []
    for part in scan(source):
        if isinstance(part, Unreadable):
            hint = "It looks like a template: render it first." if part.template else None
            raise DocumentError(f"{source.file}:{part.position.line}: {part.problem}", hint=hint)
        for duplicate in part.duplicates:
            raise DocumentError(f"{source.file}:{duplicate.position.line}: duplicate key {duplicate.path[-1]!r}")
        documents.append(part)
    return tuple(documents)


def scan(source: Source, *, pure: bool = False) -> tuple[Document | Unreadable, ...]:
    """Read what can be read of a source, in order; never raises.

    ``pure`` keeps to Python's parser where libyaml is at hand: it is ten times slower and gives the same.
    """
    if unreadable := _undecoded(source):
        return (unreadable,)
    text = source.text.removeprefix("\ufeff")
    if "\ufeff" in text:
        text = _LATE_MARK.sub(r"\1", text)  # of a file that was appended to others
    if text.lstrip()[:1] in ("{", "["):
        from pyopscaffold.document.jsontext import build_json  # noqa: PLC0415 - it takes time to load, and few have JSON

        try:
            return tuple(_documents(source, build_json(text)))
        except SyntaxProblem as error:
            if source.file.endswith(".json"):
                return (_unreadable(source, error, text),)
    try:
        return tuple(_documents(source, _build_yaml(text, pure=pure)))
    except SyntaxProblem as error:
        pieces = _pieces(text)
        if len(pieces) == 1:
            return (_unreadable(source, error, text),)
    return tuple(part for piece, line in pieces for part in _scan_piece(source, piece, line, pure=pure))


def _undecoded(source: Source) -> Unreadable | None:
    """Tell of a source that is no text."""
    if source.fault:
        return Unreadable(source, source.fault, Position(1, 1), template=False)
    text = source.text
    byte = _UNDECODED.search(text) if "\0" in text or not text.isascii() else None
    if byte is None:
        return None
    position = place(line_starts(text), byte.start())
    encoding = "UTF-16" if _UTF16.match(text) else "" if "\0" in text else "not UTF-8"
    problem = f"{encoding} text: save it as UTF-8" if encoding else "binary data: no manifest is"
    return Unreadable(source, problem, position, template=False)


def _pieces(text: str) -> list[tuple[str, int]]:
    """Cut the text at its ``---`` lines, each piece with the number of lines before it."""
    starts = sorted({0, *(match.start() for match in _SEPARATOR.finditer(text))})
    pieces = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    lines, result = 0, []
    for piece in pieces:
        result.append((piece, lines))
        lines += len(line_starts(piece)) - 1
    return result


def _scan_piece(source: Source, piece: str, line: int, *, pure: bool) -> Iterator[Document | Unreadable]:
    try:
        yield from _documents(source, _build_yaml(piece, pure=pure, line=line))
    except SyntaxProblem as error:
        yield _unreadable(source, error, piece)


def _documents(source: Source, builders: list[Builder]) -> Iterator[Document]:
    for builder in builders:
        if builder.value is not None:
            yield Document(source, builder.value, tuple(builder.duplicates), builder.spot)


def _unreadable(source: Source, error: SyntaxProblem, text: str) -> Unreadable:
    return Unreadable(source, error.problem, error.position, template=bool(_TEMPLATE.search(text)))


def _build_yaml(text: str, *, pure: bool, line: int = 0) -> list[Builder]:
    try:
        return _feed(_parser(text, pure=pure), line)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable as YAML"
        wrong = None if mark else _NO_YAML.search(text)
        found = place(line_starts(text), mark.index if mark else wrong.start() if wrong else 0)
        raise SyntaxProblem(str(problem), found.line + line, found.column) from error
    except (ValueError, IndexError, OverflowError) as error:  # PyYAML on lone surrogates and odd escapes
        raise SyntaxProblem("not readable as YAML", line + 1, 1) from error


def _parser(text: str, *, pure: bool) -> Any:
    parser = yaml.CSafeLoader(text) if yaml.__with_libyaml__ and not pure else yaml.SafeLoader(text)
    return parser if text.isascii() or not _BREAKS_OF_YAML.search(text) else _Recounted(parser, text)


class _Recounted:
    """A parser of a text in which YAML breaks lines where no editor does: its marks have the lines of editors."""

    def __init__(self, parser: Any, text: str) -> None:
        self._parser, self._starts = parser, line_starts(text)

    def get_event(self) -> Any:
        event = self._parser.get_event()
        index = event.start_mark.index
        line, column = place(self._starts, index)
        event.start_mark = yaml.Mark("", index, line - 1, column - 1, None, 0)
        return event


def _feed(parser: Any, line: int) -> list[Builder]:
    """Turn the parser's events into one builder for each document."""
    builders: list[Builder] = []
    builder = Builder()
    while True:
        event = parser.get_event()
        kind = type(event)
        mark = event.start_mark
        position = Position(mark.line + line + 1, mark.column + 1)
        if kind is yaml.ScalarEvent:
            if event.value == "<<" and (event.implicit[0] or event.tag == _MERGE_TAG):
                builder.merge_key(position)
            else:
                builder.scalar(_scalar(event), position, event.anchor)
        elif kind is yaml.MappingStartEvent:
            builder.open({}, position, event.anchor)
        elif kind is yaml.SequenceStartEvent:
            builder.open([], position, event.anchor)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            builder.close()
        elif kind is yaml.AliasEvent:
            builder.alias(event.anchor, position)
        elif kind is yaml.DocumentStartEvent:
            builder = Builder()
            builders.append(builder)
        elif kind is yaml.StreamEndEvent:
            return builders


def _scalar(event: Any) -> Any:
    if event.implicit[0]:
        return resolve(event.value)
    return resolve(event.value) if event.tag in _RESOLVED_TAGS else event.value
