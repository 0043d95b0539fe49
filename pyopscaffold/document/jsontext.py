"""JSON text as parse events: libyaml refuses tabs and surrogate pairs, which JSON allows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pyopscaffold.document.builder import Builder, Position, SyntaxProblem, line_starts, place

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<punctuation>[][{}:,])
    |(?P<string>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
    |(?P<word>true|false|null)
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None}


def build_json(text: str) -> list[Builder]:
    """Build the documents of a JSON text, which may be several values one after another.

    Raises:
        SyntaxProblem: the text is not JSON.

    """
    scanner = _Scanner(text)
    builders: list[Builder] = []
    while scanner.kind != "end":
        builder = Builder()
        _value(scanner, builder)
        builders.append(builder)
    return builders


class _Scanner:
    """The current token: ``kind`` is a group name of the pattern, or the punctuation itself."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_starts = line_starts(text)
        self._tokens = self._scan()
        self.kind, self.value, self._offset = next(self._tokens)

    def advance(self) -> None:
        self.kind, self.value, self._offset = next(self._tokens)

    @property
    def position(self) -> Position:
        return place(self._line_starts, self._offset)

    def expect(self, *kinds: str) -> str:
        """Return the current token's kind, which must be one of ``kinds``."""
        if self.kind not in kinds:
            raise SyntaxProblem(f"expected {' or '.join(kinds)} in JSON", *self.position)
        return self.kind

    def _scan(self) -> Iterator[tuple[str, Any, int]]:
        offset, kind = 0, ""
        while kind != "end":
            match = _TOKEN.match(self._text, offset)
            if match is None or match.lastgroup is None:
                blank = re.compile(r"[ \t\r\n]*").match(self._text, offset)
                self._offset = blank.end() if blank else offset
                raise SyntaxProblem("not a JSON token", *self.position)
            kind, start = match.lastgroup, match.start(match.lastgroup)
            token = match[kind]
            self._offset = start
            yield (token if kind == "punctuation" else kind), self._decode(kind, token), start
            offset = match.end()

    def _decode(self, kind: str, token: str) -> Any:
        if kind == "word":
            return _WORDS[token]
        if kind == "number" or "\\" in token:
            try:
                value = json.loads(token)
            except ValueError:
                raise SyntaxProblem("not a JSON value", *self.position) from None
            # Go replaces a lone surrogate, which no UTF-8 output could carry
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if kind == "string" else value
        return token[1:-1]


def _value(scanner: _Scanner, builder: Builder) -> None:
    """Read one value; ``closers`` holds the open brackets, innermost last."""
    closers: list[str] = []
    while True:
        kind = scanner.expect("{", "[", "string", "number", "word")
        if kind in "{[":
            builder.open({} if kind == "{" else [], scanner.position)
            closers.append("}" if kind == "{" else "]")
            scanner.advance()
            if scanner.kind != closers[-1]:
                _key(scanner, builder, closers[-1])
                continue
        else:
            builder.scalar(scanner.value, scanner.position)
            scanner.advance()
        while closers and scanner.expect(",", closers[-1]) == closers[-1]:
            closers.pop()
            builder.close()
            scanner.advance()
        if not closers:
            return
        scanner.advance()
        _key(scanner, builder, closers[-1])


def _key(scanner: _Scanner, builder: Builder, closer: str) -> None:
    if closer == "}":
        scanner.expect("string")
        builder.scalar(scanner.value, scanner.position)
        scanner.advance()
        scanner.expect(":")
        scanner.advance()
