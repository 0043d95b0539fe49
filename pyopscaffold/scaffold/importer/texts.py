"""Descriptions as docstrings, where a docstring gives the very same text back."""

from __future__ import annotations

import inspect
import re

from pyopscaffold.scaffold.importer.expressions import LINE_LENGTH, width

_UNSTABLE = re.compile(r"[ \t]+$|[^\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]", re.MULTILINE)
"""What the formatter would take away, or no docstring keeps: blanks at a line's end, tabs, control characters."""


def docstring(text: str, *, indent: int = 4) -> str | None:
    """Return the docstring with its indentation; None where a reader of it would see another text, or there is none."""
    if not text or _UNSTABLE.search(text) or '"""' in text:
        return None
    margin = " " * indent
    raw = "r" if "\\" in text else ""
    if raw and text.endswith(("\\", '"')):
        return None
    body = text.replace("\n", f"\n{margin}").replace(f"\n{margin}\n", "\n\n").replace(f"\n{margin}\n", "\n\n")
    if inspect.cleandoc(body) != text:
        return None
    if body.startswith('"'):
        body = " " + body
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    last = body.rpartition("\n")[2]
    close = f'\n{margin}"""' if "\n" in body and width(last) + 3 > LINE_LENGTH else '"""'
    return f'{margin}{raw}"""{body}{close}'
