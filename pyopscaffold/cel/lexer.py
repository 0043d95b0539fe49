"""From text to tokens: the lexical half of cel-go's grammar (parser/gen/CEL.g4)."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

from pyopscaffold.cel.ast import Position, SyntaxFault
from pyopscaffold.kube.celnames import KEYWORDS

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_STRING = "|".join(
    (
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
        r'[rR]"""(?s:.)*?"""',
        r"[rR]'''(?s:.)*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
    )
)
_EXPONENT = r"[eE][+-]?[0-9]+"

# The longest token wins in CEL; in a regular expression, the first that fits: so longer forms stand first.
_TOKEN: Final = re.compile(
    rf"""
      (?P<space>  [\t \r\n\f]+ | //[^\n]* )
    | (?P<string> {_STRING.replace(" ", "[ ]")} )
    | (?P<bytes>  [bB](?:{_STRING}) )
    | (?P<double> [0-9]+\.[0-9]+(?:{_EXPONENT})? | [0-9]+{_EXPONENT} | \.[0-9]+(?:{_EXPONENT})? )
    | (?P<uint>   (?:0x[0-9a-fA-F]+|[0-9]+)[uU] )
    | (?P<int>    0x[0-9a-fA-F]+ | [0-9]+ )
    | (?P<name>   [A-Za-z_][A-Za-z0-9_]* )
    | (?P<quoted> `[A-Za-z0-9_.\-/\ ]+` )
    | (?P<sign>   == | != | <= | >= | && | \|\| | [<>\[\](){{}}.,\-!?:+*/%] )
    """,
    re.VERBOSE,
)
_LOOSE_STRING: Final = re.compile(r"""[bB]?(["'])(?:\\.|(?!\1)[^\\\n\r])*\1""")
_GOOD_ESCAPE: Final = re.compile(_ESCAPE)
_SLIPS: Final = {"=": "==", "&": "&&", "|": "||"}


class Token(NamedTuple):
    """``kind`` is a group of the lexer, ``end``, or, of signs and keywords, the text itself."""

    kind: str
    text: str
    offset: int


class Source:
    """A text, and the positions in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        """Return the place of a character."""
        line = bisect_right(self._lines, offset)
        return Position(offset, line, offset - self._lines[line - 1] + 1)

    def tokens(self) -> list[Token]:
        """Return all tokens but space and comments, and ``end`` behind them.

        Raises:
            SyntaxFault: some characters make no token.

        """
        found, offset = [], 0
        while offset < len(self.text):
            token = _TOKEN.match(self.text, offset)
            if token is None or token.lastgroup is None:
                raise SyntaxFault(self._mistake(offset), self.position(offset))
            if token.lastgroup != "space":
                itself = token.lastgroup == "sign" or token[0] in KEYWORDS
                found.append(Token(token[0] if itself else token.lastgroup, token[0], offset))
            offset = token.end()
        return [*found, Token("end", "", offset)]

    def _mistake(self, offset: int) -> str:
        character = self.text[offset]
        if character in _SLIPS:
            return f"{character} is no operator, write {_SLIPS[character]}"
        if character == "`":
            return "a name in backticks has letters, digits, spaces and _ . - / only, and ends with a backtick"
        if character not in "\"'":
            return f"{character!r} has no meaning in CEL"
        text = _LOOSE_STRING.match(self.text, offset)
        for escape in re.finditer(r"\\(.)", text[0] if text else ""):
            if text and not _GOOD_ESCAPE.match(text[0], escape.start()):
                return rf"{escape[0]} is no escape of CEL, write \{escape[0]} or a raw string such as r'…',"
        return "the string is not closed"
