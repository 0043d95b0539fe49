"""VA06: a pattern is about the whole text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLAGS = re.compile(r"\(\?[a-zA-Z]+\)")
_LOOSE_TAIL = re.compile(r"(?<![.\\])(?:[*+?]|\{\d+(?:,\d*)?\})\??$")

_OPEN = re.compile(r"\.([*+]|\{\d+,\})\)*\??$")


def check(version: Version) -> Iterator[Hit]:
    """Report patterns that a part of the text can satisfy, though they read as a description of all of it."""
    for node in version.own("spec", "status"):
        pattern = text(node.schema.get("pattern"))
        problem = _problem(_FLAGS.sub("", pattern, count=1)) if pattern else ""
        if problem:
            fix = Fix(with_keywords(node, pattern=f"^(?:{pattern})$"), safe=False)
            message = f"{node.field} has the pattern {pattern!r}, {problem}: anchor it with ^ and $"
            yield Hit((*node.path, "pattern"), message, node.field, fix=fix)


def _problem(pattern: str) -> str:
    """Say what a pattern lets through; one with an open end, such as .*, or with one anchor may mean what it says."""
    branches = _branches(pattern)
    starts = [_starts(branch) for branch in branches]
    ends = [_ends(branch) for branch in branches]
    if any(map(_OPEN.search, branches)):
        return ""
    if any(starts) and any(ends):
        return "" if all(starts) and all(ends) else "whose ^ and $ belong to a part of its alternatives only"
    if any(starts):
        return "which says nothing of what follows" if _LOOSE_TAIL.search(pattern) else ""
    return "" if any(ends) or pattern.startswith(".") else "which any text around a match satisfies"


def _starts(branch: str) -> bool:
    return branch.startswith(("^", r"\A")) or (_is_group(branch) and all(map(_starts, _branches(_inside(branch)))))


def _ends(branch: str) -> bool:
    anchored = branch.endswith((r"\z", "$")) and not branch.endswith(r"\$")
    return anchored or (_is_group(branch) and all(map(_ends, _branches(_inside(branch)))))


def _is_group(branch: str) -> bool:
    return branch.startswith("(") and branch.endswith(")")


def _inside(group: str) -> str:
    return group[1:-1].removeprefix("?:")


def _branches(pattern: str) -> list[str]:
    """Split at each ``|`` that is in no group and no class."""
    found, depth, in_class, index = [""], 0, False, 0
    while index < len(pattern):
        char = pattern[index]
        width = 2 if char == "\\" else 1
        depth += 0 if in_class else (char == "(") - (char == ")")
        in_class = (char == "[" or in_class) and char != "]"
        if char == "|" and not depth and not in_class:
            found.append("")
        else:
            found[-1] += pattern[index : index + width]
        index += width
    return found


RULE = Rule(
    id="VA06",
    name="pattern-anchor",
    severity=Severity.WARNING,
    profile=Profile.STRICT,
    subject=Version,
    what="A pattern starts with ^ and ends with $, in each of its alternatives.",
    why="A pattern holds where any part of the text matches: [a-z]+ takes '!!a!!', and ^a|b$ takes 'anything b'.",
    check=check,
    good=(
        spec("zone: {type: string, pattern: '^[a-z]+$'}"),
        spec("zone: {type: string, pattern: '(?i)^(a|b)$|(^c$)'}"),
        spec("url: {type: string, pattern: '^https?://'}"),
        spec("text: {type: string, pattern: '.*%s.*'}"),
        spec("url: {type: string, pattern: '^[a-z]+:(#(.*))?'}"),
    ),
    bad=(
        spec("zone: {type: string, pattern: '[a-z]+'}"),
        spec("zone: {type: string, pattern: '^[a-z]+'}"),
        spec("zone: {type: string, pattern: '^a|b$'}"),
    ),
    good_class=widget(
        '''
        zone: Annotated[str, Pattern("^[a-z]+$")]
        """Where it runs."""
        '''
    ),
    bad_class=widget(
        '''
        zone: Annotated[str, Pattern("[a-z]+")]
        """Where it runs."""
        '''
    ),
)
