"""YAML in block style, letter for letter as PyYAML writes it, in a fifth of the time.

What needs thought, such as a text that looks like a number, is left to PyYAML.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9 _./()+,;'`<>=*$%&@!?|^~\[\]{}-]*[A-Za-z0-9_./()+,;'`<>=*$%&@!?|^~\[\]{}-])?")
_WORDS = frozenset("y n yes no on off true false null".split())  # noqa: SIM905 - nine quoted words are no clearer
_PRINTABLE = re.compile("[!-~](?:[ -~]*[!-~])?")
_KEY = re.compile("[ -~]{1,100}")


@cache
def _foreign(*, ascii_only: bool) -> re.Pattern[str]:
    """Return what finds a character that needs an escape; all of Unicode takes 3 ms to compile."""
    return re.compile(r"[^\n -~]" if ascii_only else r"[^\n -~\u00a1-\u2027\u202a-\ud7ff]")


def _are_plain_lines(text: str) -> bool:
    """Whether a text of several lines has no blank at the end of one, nor at its own start, and nothing to escape."""
    if text[0] in " \n" or text[-1] in " \n" or " \n" in text:
        return False
    return _foreign(ascii_only=text.isascii()).search(text) is None


class NeedsThoughtError(Exception):
    """A text takes several lines in another form than ``|-``, or a key is not simply one."""


class Writer:
    """``scalar`` writes a number, or a text that needs thought, in one line."""

    def __init__(self, scalar: Callable[[Any], str], *, sort_keys: bool = True) -> None:
        self._scalar = scalar
        self._sort_keys = sort_keys
        self._known: dict[str, str] = {}

    def document(self, manifest: dict[str, Any]) -> str:
        """Return one document.

        Raises:
            NeedsThoughtError: it is for PyYAML to write.

        """
        lines: list[str] = []
        self._mapping(manifest, "", lines)
        return "".join(f"{line}\n" for line in lines or ["{}"])

    def _mapping(self, mapping: dict[str, Any], indent: str, lines: list[str]) -> None:
        for key in sorted(mapping) if self._sort_keys else mapping:
            if not _KEY.fullmatch(key):
                raise NeedsThoughtError
            value = mapping[key]
            # Lists stand under their key, as far to the left.
            inner = indent if type(value) is list else f"{indent}  "
            self._node(value, f"{indent}{self._text(key)}:", inner, lines)

    def _list(self, items: list[Any], indent: str, lines: list[str]) -> None:
        inner = f"{indent}  "
        for item in items:
            if item and type(item) in {dict, list}:
                first = len(lines)
                (self._mapping if type(item) is dict else self._list)(item, inner, lines)
                lines[first] = f"{indent}- {lines[first][len(inner) :]}"
            else:
                self._node(item, f"{indent}-", inner, lines)

    def _node(self, value: Any, head: str, indent: str, lines: list[str]) -> None:
        """Write what comes after a key or a dash; ``indent`` is that of what takes lines of its own."""
        if value and type(value) is dict:
            lines.append(head)
            self._mapping(value, indent, lines)
        elif value and type(value) is list:
            lines.append(head)
            self._list(value, indent, lines)
        elif type(value) is str and "\n" in value and _are_plain_lines(value):
            lines.append(f"{head} |-")
            lines += [f"{indent}{line}" if line else "" for line in value.split("\n")]
        else:
            lines.append(f"{head} {self._text(value) if type(value) is str else self._plain(value)}")

    def _plain(self, value: Any) -> str:
        if value is True or value is False:
            return "true" if value else "false"
        if type(value) is int:
            return str(value)
        return (
            self._scalar(value) if value or type(value) not in {dict, list} else "{}" if type(value) is dict else "[]"
        )

    def _text(self, text: str) -> str:
        written = self._known.get(text)
        if written is None:
            written = self._known[text] = self._written(text)
            if written.startswith("|") or len(written.splitlines()) > 1:
                raise NeedsThoughtError
        return written

    def _written(self, text: str) -> str:
        if _WORD.fullmatch(text) and text.lower() not in _WORDS:
            return text
        if _PRINTABLE.fullmatch(text) and (": " in text or " #" in text or text.endswith(":")):
            return "'{}'".format(text.replace("'", "''"))
        return self._scalar(text)
