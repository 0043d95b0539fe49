"""Label selectors in the text form of the API: ``app=web,tier in (a, b),!canary``.

Grammar: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?"
_TERM = re.compile(
    rf"""\s*(?:
        (?P<absent>!)\s*(?P<without>{_KEY})
      | (?P<key>{_KEY})\s*(?:
            (?P<set>\bin|\bnotin)\s*\((?P<values>[^()]*)\)
          | (?P<operator>==|=|!=)\s*(?P<value>{_VALUE})
        )?
    )\s*(?:,|$)""",
    re.VERBOSE,
)
_WHOLE_VALUE = re.compile(_VALUE)


@dataclass(frozen=True)
class Requirement:
    """One term. With ``values``: the label's value is one of them; without: the label exists; ``negated``: not so.

    A negated term also matches where the label is missing.
    """

    key: str
    values: frozenset[str] | None
    negated: bool

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels meet this term."""
        present = self.key in labels
        met = present if self.values is None else present and labels[self.key] in self.values
        return met is not self.negated


@dataclass(frozen=True)
class LabelSelector:
    """All terms must be met; without terms everything matches."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def parse(text: str) -> LabelSelector:
    """Read a label selector; the empty text selects everything.

    Raises:
        ValueError: text is no label selector.

    """
    requirements: list[Requirement] = []
    position, end = 0, len(text.rstrip())
    if text[:end].endswith(","):
        raise ValueError(f"{text!r} is no label selector: it ends in a comma")
    while position < end:
        term = _TERM.match(text, position, end)
        if term is None:
            raise ValueError(f"{text!r} is no label selector at {text[position:].strip()!r}")
        requirements.append(_requirement(term, text))
        position = term.end()
    return LabelSelector(tuple(requirements))


def _requirement(term: re.Match[str], text: str) -> Requirement:
    if term["absent"]:
        return Requirement(term["without"], None, negated=True)
    if term["set"]:
        values = frozenset(value.strip() for value in term["values"].split(","))
        if wrong := [value for value in values if not _WHOLE_VALUE.fullmatch(value)]:
            raise ValueError(f"{text!r} is no label selector: {wrong[0]!r} is no label value")
        return Requirement(term["key"], values, negated=term["set"] == "notin")
    if term["operator"]:
        return Requirement(term["key"], frozenset({term["value"]}), negated=term["operator"] == "!=")
    return Requirement(term["key"], None, negated=False)
