"""YAML in block style, letter for letter as PyYAML writes it, in a fifth of the time.

What needs thought, such as a text that looks like a number, is left to PyYAML.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9 _./()+,;'`<>=*$%&@!?|^~\[\]{}-]*[A-Za-z0-9_./()+,;'`<>=*$%&@!?|^~\[\]{}-])?")
_LINES = re.compile(r"[!-~](?:[ -~]*[!-~])?(?:\n+ *[!-~](?:[ -~]*[!-~])?)+")
_WORDS = frozenset("y n yes no on off true false null".split())  # noqa: SIM905 - nine quoted words are no clearer
_PRINTABLE = re.compile("[!-~](?:[ -~]*[!-~])?")
_KEY = re.compile("[ -~]{1,100}")


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
        return "".join(f"{line}\n" for line in self._mapping(manifest, "")) if manifest else "{}\n"

    def _mapping(self, mapping: dict[str, Any], indent: str) -> Iterator[str]:
        for key in sorted(mapping) if self._sort_keys else mapping:
            if not _KEY.fullmatch(key):
                raise NeedsThoughtError
            value = mapping[key]
            # Lists stand under their key, as far to the left.
            yield from self._node(
                value, f"{indent}{self._text(key)}:", indent if type(value) is list else f"{indent}  "
            )

    def _list(self, items: list[Any], indent: str) -> Iterator[str]:
        inner = f"{indent}  "
        for item in items:
            if item and type(item) in {dict, list}:
                first, *others = self._mapping(item, inner) if type(item) is dict else self._list(item, inner)
                yield f"{indent}- {first[len(inner) :]}"
                yield from others
            else:
                yield from self._node(item, f"{indent}-", inner)

    def _node(self, value: Any, head: str, indent: str) -> Iterator[str]:
        """Write what comes after a key or a dash; ``indent`` is that of what takes lines of its own."""
        if value and type(value) is dict:
            yield head
            yield from self._mapping(value, indent)
        elif value and type(value) is list:
            yield head
            yield from self._list(value, indent)
        elif type(value) is str and "\n" in value:
            if not _LINES.fullmatch(value):
                raise NeedsThoughtError
            yield f"{head} |-"
            yield from (f"{indent}{line}" if line else "" for line in value.split("\n"))
        else:
            yield f"{head} {self._text(value) if type(value) is str else self._plain(value)}"

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
            if text.splitlines() not in ([], [text]):
                raise NeedsThoughtError
            written = self._known[text] = self._written(text)
        return written

    def _written(self, text: str) -> str:
        if _WORD.fullmatch(text) and text.lower() not in _WORDS:
            return text
        if _PRINTABLE.fullmatch(text) and (": " in text or " #" in text or text.endswith(":")):
            return "'{}'".format(text.replace("'", "''"))
        return self._scalar(text)
