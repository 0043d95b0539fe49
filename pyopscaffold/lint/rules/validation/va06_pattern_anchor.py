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
    from collections.abc import Callable, Iterator

_FLAGS = re.compile(r"\(\?[a-zA-Z]+\)")
_LOOSE_TAIL = re.compile(r"(?<![.\\])(?:[*+?]|\{\d+(?:,\d*)?\})\??$")
_OPEN = re.compile(r"\.([*+]|\{\d+,\})\)*\??$")
_SIGN = re.compile(r"\\.|[()\[\]|]", re.DOTALL)
_LEVELS = 50
"""Groups within groups that are looked into; nobody's patterns have as many."""


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
    starts = [_holds(_starts, branch) for branch in branches]
    ends = [_holds(_ends, branch) for branch in branches]
    if any(map(_OPEN.search, branches)):
        return ""
    if any(starts) and any(ends):
        return "" if all(starts) and all(ends) else "whose ^ and $ belong to a part of its alternatives only"
    if any(starts):
        return "which says nothing of what follows" if _LOOSE_TAIL.search(pattern) else ""
    return "" if any(ends) or pattern.startswith(".") else "which any text around a match satisfies"


def _starts(branch: str) -> bool:
    return branch.startswith(("^", r"\A"))


def _ends(branch: str) -> bool:
    return branch.endswith((r"\z", "$")) and not branch.endswith(r"\$")


def _holds(is_anchored: Callable[[str], bool], branch: str, levels: int = _LEVELS) -> bool:
    """Whether a branch is anchored, or a group of which all branches are."""
    if is_anchored(branch):
        return True
    if not levels or not (branch.startswith("(") and branch.endswith(")")):
        return False
    return all(_holds(is_anchored, inner, levels - 1) for inner in _branches(branch[1:-1].removeprefix("?:")))


def _branches(pattern: str) -> list[str]:
    """Split at each ``|`` that is in no group and no class."""
    found, depth, in_class, start = [], 0, False, 0
    for match in _SIGN.finditer(pattern):
        sign = match[0]
        depth += 0 if in_class else (sign == "(") - (sign == ")")
        in_class = (sign == "[" or in_class) and sign != "]"
        if sign == "|" and not depth and not in_class:
            found.append(pattern[start : match.start()])
            start = match.end()
    return [*found, pattern[start:]]


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
