"""Patterns of paths and of fields: ``*`` is anything within one step, ``**`` any number of steps."""

from __future__ import annotations

import re
from functools import lru_cache


def matches_path(pattern: str, path: str) -> bool:
    """Whether a file is meant by a pattern, as in .gitignore.

    Both have forward slashes and are relative to the same folder. A pattern that names a folder means all that is in
    it, and one without a slash may stand at any depth.
    """
    pattern = pattern.removeprefix("./").rstrip("/")
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    return _compiled(pattern.removeprefix("/"), "/", below="/", end="(?:/.*)?").fullmatch(path) is not None


def matches_field(pattern: str, field: str) -> bool:
    """Whether a field such as ``.spec.items[].name`` is meant by a pattern; ``.spec.**`` is ``.spec`` and all in it."""
    return _compiled(pattern, ".", below=r"[.\[{]").fullmatch(field) is not None


@lru_cache(maxsize=2048)
def _compiled(pattern: str, separator: str, *, below: str, end: str = "") -> re.Pattern[str]:
    dot = re.escape(separator)
    tokens = {
        f"**{separator}": f"(?:.*{dot})?",  # also no step at all
        f"{separator}**": f"(?:{below}.*)?",
        "**": ".*",
        "*": f"[^{dot}]*",
    }
    parts = re.split(rf"((?<![^{dot}])\*\*{dot}|{dot}\*\*$|\*\*|\*)", pattern)
    return re.compile("".join(tokens.get(part) or re.escape(part) for part in parts) + end, re.DOTALL)
