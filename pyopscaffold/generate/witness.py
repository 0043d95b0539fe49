"""Small strings that match a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The parser has no public name; it is the same from Python 3.11 on, and property-based testing tools rest on it too.
_parser: Any = re._parser  # type: ignore[attr-defined]  # noqa: SLF001

_MOST = 64


def witnesses(pattern: str) -> Iterator[str]:
    """Yield strings of growing length that match ``pattern``; nothing where it is beyond us or no expression."""
    try:
        tree = _parser.parse(pattern)
    except re.error:
        return
    for extra in range(_MOST):
        text = "".join(_matches(tree, extra))
        if re.search(pattern, text):
            yield text


def _matches(tree: Any, extra: int) -> Iterator[str]:
    for operator, argument in tree:
        match str(operator):
            case "LITERAL":
                yield chr(argument)
            case "NOT_LITERAL":
                yield "a" if argument != ord("a") else "b"
            case "ANY":
                yield "a"
            case "IN":
                yield _member(argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = argument
                yield "".join("".join(_matches(inner, 0)) for _ in range(min(int(high), low + extra)))
            case "SUBPATTERN":
                yield from _matches(argument[-1], extra)
            case "BRANCH":
                yield from _matches(argument[1][0], extra)


def _member(items: Any) -> str:
    """Return a character of a class, a letter or a digit if there is one."""
    if str(items[0][0]) == "NEGATE":
        text = "".join(map(chr, range(33, 127)))
        pattern = re.compile("[" + "".join(map(_class_text, items[1:])) + "]")
        return next((character for character in _by_taste(text) if not pattern.match(character)), "a")
    return next(iter(_by_taste("".join(map(_characters, items)))), "a")


def _by_taste(text: str) -> list[str]:
    return sorted(text, key=lambda character: (not character.isalpha(), not character.isdigit(), text.index(character)))


def _characters(item: Any) -> str:
    operator, argument = item
    match str(operator):
        case "LITERAL":
            return chr(argument)
        case "RANGE":
            return "".join(map(chr, range(argument[0], min(argument[1], argument[0] + 128) + 1)))
        case _:
            return {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}.get(str(argument), "a")


def _class_text(item: Any) -> str:
    return re.escape(_characters(item))
