"""Whether a text matches a pattern, in time that grows with the length of the text and no faster, as in Go.

Python's ``re`` goes back and tries again: with ``^([a-z]+-?)+$`` a long text that does not match takes it years. Here
all ways are gone at once: the pattern becomes an automaton, and the set of states that it can be in is followed through
the text (Thompson's construction). What a set becomes by a character is remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pyopscaffold.schema import charset, regex

if TYPE_CHECKING:
    from collections.abc import Callable

    Holds = Callable[[str, str], bool]  # given the characters around a place, "" where there is none

_REMEMBERED: Final = 20_000


def matches(pattern: str, text: str) -> bool:
    """Whether some part of ``text`` matches, as Go's ``MatchString`` says.

    Raises:
        BadPattern: the pattern is none.

    """
    return _automaton(pattern).search(text)


@dataclass
class _State:
    """Where an automaton can be: to go on it takes a character of ``ranges``, or ``anchor`` to hold, or nothing.

    Without a way on, all is matched.
    """

    onward: tuple[int, ...] = ()
    ranges: charset.Ranges | None = None
    anchor: Holds | None = None


@lru_cache(maxsize=128)
def _automaton(pattern: str) -> _Automaton:
    return _Automaton(regex.parse(pattern))


class _Automaton:
    def __init__(self, tree: regex.Node) -> None:
        self._states: list[_State] = []
        self._start = self._add(tree, self._new(_State()))
        self._known: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}

    def search(self, text: str) -> bool:
        states, before = frozenset[int](), ""
        for after in (*text, ""):
            key = (states, _kind(before), after)
            if key not in self._known:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[key] = self._step(states, before, after)
            following = self._known[key]
            if following is None:
                return True
            states, before = following, after
        return False

    def _step(self, states: frozenset[int], before: str, after: str) -> frozenset[int] | None:
        """Return the states behind ``after``, given those before it and the start; None if all is matched by then."""
        reached: set[int] = set()
        following: set[int] = set()
        pending = [*states, self._start]
        while pending:
            number = pending.pop()
            if number in reached:
                continue
            reached.add(number)
            state = self._states[number]
            if not state.onward:
                return None
            if state.ranges is not None:
                if after and charset.contains(state.ranges, ord(after)):
                    following.update(state.onward)
            elif state.anchor is None or state.anchor(before, after):
                pending.extend(state.onward)
        return frozenset(following)

    # Construction, from the end backwards: a node is added in front of the state that it leads to.

    def _new(self, state: _State) -> int:
        self._states.append(state)
        return len(self._states) - 1

    def _add(self, node: regex.Node, then: int) -> int:
        match node:
            case regex.Characters(ranges):
                return self._new(_State((then,), ranges))
            case regex.Anchor(kind):
                return self._new(_State((then,), anchor=_ANCHORS[kind]))
            case regex.Choice(parts):
                return self._new(_State(tuple(self._add(part, then) for part in parts)))
            case regex.Sequence(parts):
                for part in reversed(parts):
                    then = self._add(part, then)
                return then
            case regex.Repeat(part, least, most):
                return self._repeat(part, least, most, then)

    def _repeat(self, part: regex.Node, least: int, most: int | None, then: int) -> int:
        if most is None:
            again = self._new(_State())
            first = self._add(part, again)
            self._states[again].onward = (first, then)
            then, least = (first, least - 1) if least else (again, 0)
        else:
            end = then
            for _ in range(most - least):
                then = self._new(_State((self._add(part, then), end)))
        for _ in range(least):
            then = self._add(part, then)
        return then


def _kind(character: str) -> str:
    """Return all that matters of the character before a place: that there is none, or a newline, or a word's."""
    return "a" if _is_word(character) else character if character in {"", "\n"} else " "


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


_ANCHORS: Final[dict[str, Holds]] = {
    "text start": lambda before, _: not before,
    "text end": lambda _, after: not after,
    "line start": lambda before, _: before in {"", "\n"},
    "line end": lambda _, after: after in {"", "\n"},
    "word edge": lambda before, after: _is_word(before) != _is_word(after),
    "no word edge": lambda before, after: _is_word(before) == _is_word(after),
}
