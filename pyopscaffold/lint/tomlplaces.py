"""Where the keys of a TOML text stand: the standard library's parser does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.lint.config import Keys


def line_of(text: str, keys: Keys) -> int:
    """Return the line on which a key is written, or else the innermost table around it; they count from 1."""
    best, found = 0, 1
    for line, written in _written(text):
        if best < len(written) and written == keys[: len(written)]:
            best, found = len(written), line
    return found


def _written(text: str) -> Iterator[tuple[int, Keys]]:
    """Iterate over the headers and the assignments of a text, each with all keys that lead to it."""
    table: Keys = ()
    for line, content in enumerate(text.splitlines(), 1):
        if content.lstrip().startswith("["):
            if header := _keys(content):
                table = header
                yield line, table
            continue
        ends = (end for end, letter in enumerate(content) if letter == "=")  # a quoted key may have some of its own
        key = next((keys for end in ends if (keys := _keys(f"{content[:end]} = 0"))), ())
        if key:
            yield line, (*table, *key)


def _keys(line: str) -> Keys:
    """Return the keys that one line names, none where it is no header or assignment."""
    import tomllib  # noqa: PLC0415 - only for mistakes

    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    keys: Keys = ()
    while isinstance(inner, dict | list) and inner:
        if isinstance(inner, dict):
            keys = (*keys, next(iter(inner)))
            inner = inner[keys[-1]]
        else:
            inner = inner[0]
    return keys
