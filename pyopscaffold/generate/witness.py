"""Small strings that match a pattern."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any, Final

from pyopscaffold.schema import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

# The parser has no public name; it is the same from Python 3.11 on, and property-based testing tools rest on it too.
_parser: Any = re._parser  # type: ignore[attr-defined]  # noqa: SLF001

_MOST = 64
_BY_TASTE: Final = string.ascii_lowercase + string.ascii_uppercase + string.digits + string.punctuation + " "


def witnesses(pattern: str) -> Iterator[str]:
    """Yield strings of growing length that match ``pattern``; nothing where it is beyond us or no expression."""
    try:
        compiled = regex.compile(pattern)
    except regex.BadPattern:
        return
    tree = _parser.parse(compiled.pattern)
    for extra in range(_MOST):
        text = "".join(_matches(tree, extra))
        if compiled.search(text):
            yield text


def _matches(tree: Any, extra: int) -> Iterator[str]:
    for operator, argument in tree:
        match str(operator):
            case "LITERAL":
                yield chr(argument)
            case "NOT_LITERAL":
                yield _member([(0, argument - 1), (argument + 1, ord("~"))])
            case "ANY":
                yield _BY_TASTE[0]
            case "IN":
                yield _member_of_class(argument)
            case "MAX_REPEAT":
                low, high, inner = argument
                yield "".join("".join(_matches(inner, 0)) for _ in range(min(int(high), low + extra)))
            case "SUBPATTERN":
                yield from _matches(argument[-1], extra)
            case "BRANCH":
                yield from _matches(argument[1][0], extra)


def _member_of_class(items: Any) -> str:
    """Return a character of a class, whose items are characters and ranges: translated patterns have no others."""
    ranges = [argument if str(operator) == "RANGE" else (argument, argument) for operator, argument in items]
    if str(items[0][0]) != "NEGATE":
        return _member(ranges)
    return next((sign for sign in _BY_TASTE if not _within(ranges[1:], sign)), _BY_TASTE[0])


def _member(ranges: list[tuple[int, int]]) -> str:
    return next((sign for sign in _BY_TASTE if _within(ranges, sign)), chr(ranges[0][0]))


def _within(ranges: list[tuple[int, int]], character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in ranges)
