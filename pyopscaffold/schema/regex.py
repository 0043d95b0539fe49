r"""Regular expressions as the API server reads them: RE2, the syntax of Go's ``regexp``.

:func:`parse` refuses what Go 1.26 refuses (regexp/syntax with its Perl flags) and gives a tree of the rest, for
:mod:`pyopscaffold.schema.matcher` to match with. Flags are worked into the tree: characters that are equal but for case
are in the sets, and so on. Groups do not capture, and lazy repeats are as others: neither tells whether a text matches.

Not modelled are Go's limits of memory, which only expressions of thousands of parts meet.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from pyopscaffold.schema import charset

MOST_COPIES: Final = 1000
"""Of what stands within counted repeats."""

_DEEPEST: Final = 200
"""Repeats and alternatives within each other; Go has 1000, which Python's stack has not."""

_ESCAPES: Final = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_FOREIGN_GROUPS: Final = {
    "(?=": "RE2 has no look-ahead (?=…)",
    "(?!": "RE2 has no look-ahead (?!…)",
    "(?<=": "RE2 has no look-behind (?<=…)",
    "(?<!": "RE2 has no look-behind (?<!…)",
    "(?>": "RE2 has no atomic group (?>…), write (?:…)",
    "(?P=": "RE2 has no back reference (?P=…)",
    "(?#": "RE2 has no comment (?#…)",
    "(?(": "RE2 has no condition (?(…)…)",
}
_FOREIGN_ESCAPES: Final = {
    **dict.fromkeys("123456789", "RE2 has no back reference"),
    "k": "RE2 has no back reference",
    "Z": r"RE2 has no \Z, write \z or $",
    "h": r"RE2 has no \h, write [\t ]",
    "R": r"RE2 has no \R, write \r?\n",
    "u": r"RE2 has no \u, write \x{00E9} for \u00E9",
    "U": r"RE2 has no \U, write \x{1F600} for \U0001F600",
}


class BadPattern(ValueError):  # noqa: N818 - what it is about
    """Go refuses the expression; ``message`` says why, ``offset`` counts characters from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message}, at character {offset + 1}")
        self.message = message
        self.offset = offset


@dataclass(frozen=True)
class Characters:
    """One character of a set."""

    ranges: charset.Ranges


@dataclass(frozen=True)
class Anchor:
    """A place: the start or end of the text or of a line, or where a word of ASCII starts or ends, or neither."""

    kind: Literal["text start", "text end", "line start", "line end", "word edge", "no word edge"]


@dataclass(frozen=True)
class Sequence:
    """One after the other; none is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of them."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """``least`` to ``most`` times, None for any number."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Characters | Anchor | Sequence | Choice | Repeat


@lru_cache(maxsize=512)
def parse(pattern: str) -> Node:
    """Return the tree of an expression.

    Raises:
        BadPattern: Go refuses it.

    """
    return _Parser(pattern).parse()


_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ANCHORS: Final = {
    "A": Anchor("text start"),
    "z": Anchor("text end"),
    "b": Anchor("word edge"),
    "B": Anchor("no word edge"),
}


class _Piece(NamedTuple):
    """A node; ``copies`` is the product of the counted repeats in it, ``depth`` how far nodes nest."""

    node: Node
    copies: int = 1
    depth: int = 0


@dataclass
class _Group:
    """An open parenthesis: where it stands, and the flags that hold again behind it."""

    offset: int
    flags: frozenset[str]
    choices: list[_Piece] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)

    def end_choice(self) -> None:
        self.choices.append(_joined(self.pieces, Sequence))
        self.pieces = []

    def closed(self) -> _Piece:
        self.end_choice()
        return _joined(self.choices, Choice)


def _joined(pieces: list[_Piece], kind: type[Sequence | Choice]) -> _Piece:
    """Return the node of all pieces; what is of its kind is dissolved in it."""
    if len(pieces) == 1:
        return pieces[0]
    parts: list[Node] = []
    for piece in pieces:
        parts.extend(piece.node.parts if isinstance(piece.node, kind) else [piece.node])
    depth = max((piece.depth + (not isinstance(piece.node, kind)) for piece in pieces), default=0)
    return _Piece(kind(tuple(parts)), max((piece.copies for piece in pieces), default=1), depth)


class _Parser:
    """Goes through the pattern once; ``_repeated`` is where the repeat that ends right here starts."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._last_end = pattern.rfind(":]")  # of a named class: not to look for it from each that has none
        self._groups = [_Group(0, frozenset())]
        self._flags: frozenset[str] = frozenset()
        self._repeated: int | None = None

    def parse(self) -> Node:
        try:
            self._pattern.encode()
        except UnicodeEncodeError as error:
            raise BadPattern("half a character of UTF-16 can't be", error.start) from error
        while self._at < len(self._pattern):
            before, self._repeated = self._repeated, None
            self._part(before)
        if len(self._groups) > 1:
            raise BadPattern("the group has no closing ), write \\( for the character", self._groups[-1].offset)
        whole = self._groups[0].closed()
        if whole.depth > _DEEPEST:
            raise BadPattern(f"repeats and alternatives nest more than {_DEEPEST} deep", 0)
        return whole.node

    def _part(self, repeated: int | None) -> None:
        character = self._pattern[self._at]
        match character:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._at += 1
                self._groups[-1].end_choice()
            case "[":
                self._add(Characters(self._class()))
            case "*" | "+" | "?":
                self._at += 1
                self._repeat(character, *_SIGNS[character], self._at - 1, repeated)
            case "{" if count := self._count():
                self._counted(count, repeated)
            case "\\":
                self._escape()
            case "^" | "$" | ".":
                self._at += 1
                self._sign(character)
            case _:
                self._at += 1
                self._literal(ord(character))

    # What stands for itself.

    def _add(self, node: Node) -> None:
        self._groups[-1].pieces.append(_Piece(node))

    def _literal(self, code: int) -> None:
        self._add(Characters(self._cased(((code, code),))))

    def _cased(self, ranges: charset.Ranges) -> charset.Ranges:
        return charset.folded(ranges) if "i" in self._flags else ranges

    def _sign(self, sign: str) -> None:
        if sign == ".":
            self._add(Characters(charset.EVERYTHING if "s" in self._flags else charset.ALL_BUT_NEWLINE))
        elif "m" in self._flags:
            self._add(Anchor("line start" if sign == "^" else "line end"))
        else:
            self._add(Anchor("text start" if sign == "^" else "text end"))

    # Groups.

    def _open(self) -> None:
        start = self._at
        if not self._pattern.startswith("(?", start):
            self._at += 1
            self._groups.append(_Group(start, self._flags))
        elif named := re.compile(r"\(\?P?<([A-Za-z0-9_]+)>").match(self._pattern, start):
            self._at = named.end()
            self._groups.append(_Group(start, self._flags))
        else:
            self._open_with_flags(start)

    def _open_with_flags(self, start: int) -> None:
        found = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])").match(self._pattern, start)
        if found is None:
            raise BadPattern(self._foreign_group(start), start)
        self._at = found.end()
        if found[3] == ":":
            self._groups.append(_Group(start, self._flags))
        self._flags = (self._flags | set(found[1])) - set(found[2] or "")

    def _foreign_group(self, start: int) -> str:
        for sign, message in _FOREIGN_GROUPS.items():
            if self._pattern.startswith(sign, start):
                return message
        if re.compile(r"\(\?P?<").match(self._pattern, start):
            return "the name of a group is (?P<name>…), of letters, digits and _"
        return "RE2 has after (? only flags of i, m, s and U, a colon, or a name: (?i), (?i:…), (?:…), (?P<name>…)"

    def _close(self) -> None:
        if len(self._groups) == 1:
            raise BadPattern("the ) closes no group, write \\) for the character", self._at)
        self._at += 1
        group = self._groups.pop()
        self._flags = group.flags
        self._groups[-1].pieces.append(group.closed())

    # Repeats.

    def _count(self) -> re.Match[str] | None:
        """Return {1}, {1,} or {1,2}, numbers without leading zeros; any other brace is a character."""
        number = "(0|[1-9][0-9]*)"
        return re.compile(rf"\{{{number}(?:(,){number}?)?\}}").match(self._pattern, self._at)

    def _counted(self, count: re.Match[str], repeated: int | None) -> None:
        most_digits = len(str(MOST_COPIES)) + 1
        least = int(count[1][:most_digits])
        most = least if not count[2] else int(count[3][:most_digits]) if count[3] else None
        if max(least, most or 0) > MOST_COPIES:
            raise BadPattern(f"{count[0]} repeats more than {MOST_COPIES} times", count.start())
        if most is not None and most < least:
            raise BadPattern(f"{count[0]} has more for the least than for the most", count.start())
        self._at = count.end()
        self._repeat(count[0], least, most, count.start(), repeated)

    def _repeat(self, sign: str, least: int, most: int | None, start: int, repeated: int | None) -> None:
        self._at += self._pattern.startswith("?", self._at)
        if repeated is not None:
            stacked = self._pattern[repeated : self._at]
            raise BadPattern(
                f"RE2 has no repeat of a repeat {stacked}, nor possessive ones; write (?:…){sign}", repeated
            )
        pieces = self._groups[-1].pieces
        if not pieces:
            raise BadPattern(f"there is nothing before {sign} to repeat, write \\{sign} for the character", start)
        piece = pieces.pop()
        copies = piece.copies * (max(least, 1) if most is None else most)
        if copies > MOST_COPIES:
            raise BadPattern(f"repeats within repeats make more than {MOST_COPIES} copies", start)
        pieces.append(_Piece(Repeat(piece.node, least, most), copies, piece.depth + 1))
        self._repeated = start

    # Escapes.

    def _escape(self) -> None:
        start, following = self._at, self._pattern[self._at + 1 : self._at + 2]
        if following in _ANCHORS:
            self._at += 2
            self._add(_ANCHORS[following])
        elif following == "Q":
            text, end, _ = self._pattern[start + 2 :].partition(r"\E")
            self._at += 2 + len(text) + len(r"\E" if end else "")
            for character in text:
                self._literal(ord(character))
        elif (ranges := self._escaped_set()) is not None:
            self._add(Characters(ranges))
        else:
            self._literal(self._escaped_character())

    def _escaped_set(self) -> charset.Ranges | None:
        r"""Take \d, \pN or \p{Name} and the like, None if there is none."""
        start, letter = self._at, self._pattern[self._at + 1 : self._at + 2]
        if letter in {"p", "P"}:
            ranges, negative = self._unicode(start)
        elif letter and letter in "dswDSW":
            self._at += 2
            ranges, negative = charset.PERL[letter.lower()], False
        else:
            return None
        ranges = self._cased(ranges)
        return charset.negated(ranges) if letter.isupper() != negative else ranges

    def _unicode(self, start: int) -> tuple[charset.Ranges, bool]:
        found = re.compile(r"\\[pP](?:\{(\^?)([^}]*)\}|([^{]))", re.DOTALL).match(self._pattern, start)
        ranges = charset.named(found[2] if found[3] is None else found[3]) if found else None
        if found is None or ranges is None:
            what = found[0] if found else self._pattern[start:]
            raise BadPattern(rf"{what} names no category or script of Unicode, such as \pL or \p{{Greek}}", start)
        self._at = found.end()
        return ranges, bool(found[1])

    def _escaped_character(self) -> int:
        start = self._at
        found = re.compile(r"\\(?:([1-7][0-7]{1,2}|0[0-7]{0,2})|x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]+)\}|([\s\S]))").match(
            self._pattern, start
        )
        if found is None:
            raise BadPattern(r"a single \ ends the expression, write \\", start)
        self._at = found.end()
        if found[1]:
            return int(found[1], 8)
        if digits := found[2] or found[3]:
            code = int(digits, 16)
            if code > charset.EVERYTHING[0][1]:
                raise BadPattern(f"{found[0]} is no character of Unicode", start)
            return code
        character = found[4]
        if character in _ESCAPES:
            return _ESCAPES[character]
        if not character.isascii() or character.isalnum():
            raise BadPattern(_FOREIGN_ESCAPES.get(character, f"RE2 has no escape {found[0]}"), start)
        return ord(character)

    # Classes.

    def _class(self) -> charset.Ranges:
        start = self._at
        self._at += 1
        negative = self._pattern.startswith("^", self._at)
        self._at += negative
        found: list[charset.Ranges] = []
        while not found or not self._pattern.startswith("]", self._at):
            if self._at >= len(self._pattern):
                raise BadPattern("the class has no closing ], write \\[ for the character", start)
            found.append(self._class_item())
        self._at += 1
        whole = charset.union(*found)
        return charset.negated(whole) if negative else whole

    def _class_item(self) -> charset.Ranges:
        is_ended = self._at + 2 <= self._last_end
        if is_ended and (posix := re.compile(r"\[:([\s\S]*?):\]").match(self._pattern, self._at)):
            return self._posix(posix)
        if (ranges := self._escaped_set() if self._pattern.startswith("\\", self._at) else None) is not None:
            return ranges
        start = self._at
        low = high = self._class_character()
        if self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] not in {"", "]"}:
            self._at += 1
            high = self._class_character()
        if high < low:
            raise BadPattern(f"the range {self._pattern[start : self._at]} ends before it starts", start)
        return self._cased(((low, high),))

    def _class_character(self) -> int:
        if self._pattern.startswith("\\", self._at):
            return self._escaped_character()
        self._at += 1
        return ord(self._pattern[self._at - 1])

    def _posix(self, found: re.Match[str]) -> charset.Ranges:
        name = found[1].removeprefix("^")
        if name not in charset.POSIX:
            raise BadPattern(f"there is no class {found[0]}, such as [:alpha:]", found.start())
        self._at = found.end()
        ranges = self._cased(charset.POSIX[name])
        return charset.negated(ranges) if found[1].startswith("^") else ranges
