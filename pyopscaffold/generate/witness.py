"""Small strings that match a pattern."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Final

from pyopscaffold.schema import charset, regex
from pyopscaffold.schema.matcher import matches

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 64
_BY_TASTE: Final = string.ascii_lowercase + string.ascii_uppercase + string.digits + string.punctuation + " "


def witnesses(pattern: str) -> Iterator[str]:
    """Yield strings of growing length that match ``pattern``; nothing where it is beyond us or no expression."""
    try:
        tree = regex.parse(pattern)
    except regex.BadPattern:
        return
    for extra in range(_MOST):
        text = _text(tree, extra)
        if matches(pattern, text):
            yield text


def _text(node: regex.Node, extra: int) -> str:
    """Return a text for a node whose outermost repeats go ``extra`` times beyond the least."""
    match node:
        case regex.Characters(ranges):
            return _character(ranges)
        case regex.Sequence(parts):
            return "".join(_text(part, extra) for part in parts)
        case regex.Choice(parts):
            return _text(parts[0], extra)
        case regex.Repeat(part, least, most):
            count = least + extra if most is None else min(most, least + extra)
            return _text(part, 0) * count
        case regex.Anchor():
            return ""


def _character(ranges: charset.Ranges) -> str:
    """Return a character of a set, a letter or a digit if there is one."""
    first = chr(ranges[0][0]) if ranges else ""
    return next((character for character in _BY_TASTE if charset.contains(ranges, ord(character))), first)
