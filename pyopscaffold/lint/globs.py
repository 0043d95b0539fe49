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
    """Compile a pattern to an expression that takes no time to fail: the files that are checked bring patterns too.

    What stands between two stars is taken where it comes first, and for good: what it leaves is all the second needs.
    """
    dot = re.escape(separator)
    if pattern.endswith(f"{separator}**"):
        pattern, end = pattern[:-3], f"(?:{below}.*)?{end}"
    first, *others = re.split(rf"((?<![^{dot}])\*\*{dot}|\*\*)", pattern)
    parts = [
        (".*?" if stars == "**" else f"(?:.*?{dot})??") + _steps(fixed, separator)  # the latter also for no step at all
        for stars, fixed in zip(others[::2], others[1::2], strict=True)
    ]
    return re.compile(_steps(first, separator) + _at_first(parts) + end, re.DOTALL)


def _steps(pattern: str, separator: str) -> str:
    """Return the expression for steps with single stars."""
    first, *others = map(re.escape, pattern.split("*"))
    return first + _at_first([f"[^{re.escape(separator)}]*?{text}" for text in others])


def _at_first(parts: list[str]) -> str:
    """Join parts, of which all but the last are matched once."""
    return "".join([*(f"(?>{part})" for part in parts[:-1]), *parts[-1:]])
