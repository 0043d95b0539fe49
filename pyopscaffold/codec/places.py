"""Where JSON text does not fit: msgspec's place, with the keys of mappings, which it does not name."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

_PLACE = re.compile(r"(?P<message>.*?)(?: - at `(?P<path>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<field>.*)`")
_SEGMENT = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[\.\.\.\]")


def place(error: msgspec.ValidationError, decode: Callable[[Any], Any], text: bytes | msgspec.Raw) -> tuple[str, str]:
    """Return message and path of a misfit; a missing field is placed where it should stand."""
    message, path = _split(error)
    if "[...]" in path:
        # what only the mirror skips, or a name with a dot in it: the place without its keys is right too
        with suppress(ValueError, LookupError, RecursionError):
            path = _Search(decode, msgspec.json.decode(text), (message, path)).named()
    if missing := _MISSING.fullmatch(message):
        return "required, but missing", f"{path}.{missing['field']}"
    return message, path


def _split(error: msgspec.ValidationError) -> tuple[str, str]:
    found = _PLACE.fullmatch(str(error))
    return (found["message"], found["path"] or "$") if found else (str(error), "$")


class _Search:
    """Finds the keys by leaving entries out for as long as the misfit stays."""

    def __init__(self, decode: Callable[[Any], Any], document: Any, misfit: tuple[str, str]) -> None:
        self._decode = decode
        self._document = document
        self._misfit = misfit

    def named(self) -> str:
        """Return the path with its keys."""
        here, path = self._document, "$"
        for segment in _SEGMENT.finditer(self._misfit[1]):
            if segment["name"]:
                key: Any = segment["name"]
            elif segment["index"]:
                key = int(segment["index"])
            else:
                key = self._culprit(here)
            path += segment[0] if segment[0] != "[...]" else f"[{key!r}]"
            here = here[key]
        return path

    def _culprit(self, mapping: dict[str, Any]) -> str:
        """Narrow the mapping down to the one entry that does not fit; raises LookupError where there is no such."""
        entries = list(mapping.items())
        while len(entries) > 1:
            half, rest = entries[: len(entries) // 2], entries[len(entries) // 2 :]
            entries = half if self._stays(mapping, half) else rest
        if not self._stays(mapping, entries):
            raise LookupError(self._misfit[1])
        return entries[0][0]

    def _stays(self, mapping: dict[str, Any], entries: list[tuple[str, Any]]) -> bool:
        mapping.clear()
        mapping.update(entries)
        try:
            self._decode(msgspec.json.encode(self._document))
        except msgspec.ValidationError as error:
            return _split(error) == self._misfit
        return False
