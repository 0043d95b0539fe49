"""Docstrings of classes in Google's form: the section ``Attributes:`` describes fields, the rest the class.

Form: https://google.github.io/styleguide/pyguide.html#384-classes.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_HEAD = re.compile(r"^Attributes:[ \t]*\n", re.MULTILINE)
# The next thing at the margin ends the section.
_END = re.compile(r"^(?=\S)", re.MULTILINE)
_ENTRY = re.compile(r"(\w+)[ \t]*(?:\((?:[^()]|\([^()]*\))*\))?:(?:[ \t]+|$)")


def split(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the text of a class, and the texts of its fields by their Python names.

    An entry is ``name: text`` or ``name (type): text``; lines that are indented below it go on with it, and keep their
    indentation among themselves.
    """
    head = _HEAD.search(f"{docstring}\n")
    if head is None:
        return docstring, {}
    end = _END.search(docstring, head.end())
    section = docstring[head.end() : end.start() if end else None]
    entries = _entries(textwrap.dedent(section).splitlines())
    if not entries:
        return docstring, {}
    parts = (docstring[: head.start()].rstrip(), docstring[end.start() :].rstrip() if end else "")
    return "\n\n".join(filter(None, parts)), entries


def field_texts(texts: Iterable[tuple[str, Mapping[str, str]]]) -> dict[str, str]:
    """Return the texts of fields by name, from each class's docstring and those below its fields, bases first.

    What stands below a field goes before the entry in the class's docstring, and a subclass's word before its base's.
    """
    found: dict[str, str] = {}
    for docstring, below in texts:
        found |= {**split(docstring)[1], **below}
    return found


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, tuple[str, list[str]]] = {}
    rest: list[str] = []
    for line in lines:
        entry = _ENTRY.match(line)
        if entry:
            rest = []
            found[entry[1]] = (line[entry.end() :], rest)
        else:
            rest.append(line)
    return {name: _joined(first, more) for name, (first, more) in found.items()}


def _joined(first: str, more: list[str]) -> str:
    below = textwrap.dedent("\n".join(more))
    return f"{first}\n{below}".strip("\n").rstrip()
