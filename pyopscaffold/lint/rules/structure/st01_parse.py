"""ST01: the text is YAML or JSON, and no key stands twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.document.reader import Unreadable
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Hit, Profile, Rule
from pyopscaffold.lint.subject import File

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(file: File) -> Iterator[Hit]:
    """Report parts that can't be read, save templates, and duplicate keys."""
    for part in file.parts:
        if not isinstance(part, Unreadable):
            for key in part.duplicates:
                message = f"duplicate key {str(key.path[-1])!r}, first on line {key.first.line}; the last one wins"
                yield Hit(key.path, message, position=key.position)
        elif not part.template:
            yield Hit((), part.problem, position=part.position)


RULE = Rule(
    id="ST01",
    name="parse",
    severity=Severity.ERROR,
    profile=Profile.APISERVER,
    subject=File,
    what="A manifest is readable YAML or JSON, and no mapping has a key twice.",
    why="Of two equal keys one is dropped in silence; the API server refuses them under strict field validation.",
    check=check,
    good=("a: 1\nb: 2\n",),
    bad=("a: [1\n", "a: 1\nb: 2\na: 3\n"),
)
