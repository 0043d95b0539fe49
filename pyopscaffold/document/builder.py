"""Builds JSON values with positions from a stream of parse events, without recursion."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

Path = tuple[str | int, ...]

MAX_DEPTH = 250  # the deepest real CRD is at about 60; deeper text is an attack on whoever walks it
MAX_NODES = 2_000_000  # after expanding aliases; the largest real document has about 20,000
MAX_EXPANDED = 100_000  # values that aliases repeat; few real documents have any
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Position(NamedTuple):
    """A place in a file; both numbers count from 1, columns in characters."""

    line: int
    column: int


def line_starts(text: str) -> tuple[int, ...]:
    """Return the offsets at which lines begin in an editor; YAML, and Python's splitlines, begin more."""
    return (0, *(match.end() for match in _LINE_BREAK.finditer(text)))


def place(starts: Sequence[int], offset: int) -> Position:
    """Return where the character at an offset stands, by the :func:`line_starts` of its text."""
    line = bisect_right(starts, offset)
    return Position(line, offset - starts[line - 1] + 1)


class SyntaxProblem(Exception):  # noqa: N818 - internal to the package, made a DocumentError at its border
    """The text is no document; ``line`` and ``column`` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.problem, self.position = problem, Position(line, column)


@dataclass(frozen=True)
class DuplicateKey:
    """A key that a mapping already had; the later value wins, as in Go."""

    path: Path
    position: Position
    first: Position


class Spot:
    """Where a value stands, and where the values in it stand."""

    __slots__ = ("children", "position")

    def __init__(self, position: Position) -> None:
        self.position = position
        self.children: dict[str | int, tuple[Position, Spot]] = {}


class _Frame:
    """A container under construction; ``key`` is the mapping key that waits for its value, ``merging`` a ``<<``."""

    __slots__ = ("anchor", "container", "inherited", "key", "key_position", "merging", "size", "spot")

    def __init__(self, container: dict[str, Any] | list[Any], spot: Spot, anchor: str | None) -> None:
        self.container, self.spot, self.anchor = container, spot, anchor
        self.key: str | None = None
        self.key_position = spot.position
        self.merging = False
        self.inherited: set[str] = set()
        self.size = 1


class Builder:
    """Takes the events of one document in order; then ``value``, ``spot`` and ``duplicates`` are its result."""

    def __init__(self) -> None:
        self.value: Any = None
        self.spot = Spot(Position(1, 1))
        self.duplicates: list[DuplicateKey] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, Spot, int] | None] = {}
        self._expanded = 0

    def open(self, container: dict[str, Any] | list[Any], position: Position, anchor: str | None = None) -> None:
        """Begin a mapping or list."""
        self._refuse_as_key(position)
        if len(self._stack) >= MAX_DEPTH:
            raise SyntaxProblem(f"nested deeper than {MAX_DEPTH} levels", *position)
        if anchor is not None:
            self._anchors[anchor] = None
        self._stack.append(_Frame(container, Spot(position), anchor))

    def close(self) -> None:
        """End the innermost mapping or list."""
        frame = self._stack.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (frame.container, frame.spot, frame.size)
        self._add(frame.container, frame.spot, frame.size)

    def scalar(self, value: Any, position: Position, anchor: str | None = None) -> None:
        """Add a scalar: a value, or the next key of the innermost mapping."""
        if value.__class__ is float and not isfinite(value):
            raise SyntaxProblem("infinity and NaN have no JSON form", *position)
        if anchor is not None:
            self._anchors[anchor] = (value, Spot(position), 1)
        if self._awaits_key():
            self._begin_entry(_key(value, position), position)
        else:
            self._add(value, Spot(position), 1)

    def merge_key(self, position: Position) -> None:
        """Add the plain scalar ``<<``: as a key, the entries of its value are inherited."""
        if not self._awaits_key():
            self.scalar("<<", position)
            return
        self._begin_entry("<<", position, merging=True)

    def alias(self, name: str, position: Position) -> None:
        """Add the value that was anchored as ``name``."""
        target = self._anchors.get(name)
        if target is None:
            problem = "contains itself" if name in self._anchors else "is not defined"
            raise SyntaxProblem(f"the anchor {name!r} {problem}", *position)
        value, spot, size = target
        self._expanded += size
        if self._expanded > MAX_EXPANDED:
            raise SyntaxProblem("aliases expand to too many values", *position)
        if self._awaits_key():
            if isinstance(value, dict | list):
                self._refuse_as_key(position)
            self._begin_entry(_key(value, position), position)
        else:
            self._add(value, spot, size)

    def _awaits_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].key is None and isinstance(self._stack[-1].container, dict)

    def _refuse_as_key(self, position: Position) -> None:
        if self._awaits_key():
            raise SyntaxProblem("a mapping key must be a scalar", *position)

    def _begin_entry(self, key: str, position: Position, *, merging: bool = False) -> None:
        frame = self._stack[-1]
        if not merging and key in frame.container and key not in frame.inherited:
            self.duplicates.append(DuplicateKey((*self._path(), key), position, frame.spot.children[key][0]))
        frame.key, frame.key_position, frame.merging = key, position, merging

    def _path(self) -> Path:
        """Name the innermost open container."""
        outer = self._stack[:-1]
        return tuple(len(frame.container) if isinstance(frame.container, list) else frame.key or "" for frame in outer)

    def _add(self, value: Any, spot: Spot, size: int) -> None:
        if not self._stack:
            self.value, self.spot = value, spot
            return
        frame = self._stack[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            raise SyntaxProblem("aliases expand to too many values", *spot.position)
        if isinstance(frame.container, list):
            frame.spot.children[len(frame.container)] = (spot.position, spot)
            frame.container.append(value)
            return
        key, frame.key = frame.key, None
        if frame.merging:
            _inherit(frame, value, spot)
        elif key is not None:
            frame.container[key] = value
            frame.spot.children[key] = (frame.key_position, spot)


def _key(value: Any, position: Position) -> str:
    """Make the JSON object key of a scalar, as sigs.k8s.io/yaml writes it."""
    if isinstance(value, str):
        return value
    if value is None:
        raise SyntaxProblem("a mapping key must not be null", *position)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _inherit(frame: _Frame, value: Any, spot: Spot) -> None:
    """Take over the entries of a merged mapping, or of a list of them, whose earlier ones win.

    As in Go, and unlike YAML has it, they stand for keys at this place: a key before them loses to them.
    """
    own = cast("dict[str, Any]", frame.container)
    listed = isinstance(value, list)
    sources = [(item, spot.children[index][1]) for index, item in enumerate(value)] if listed else [(value, spot)]
    for source, origin in reversed(sources):
        if not isinstance(source, dict):
            raise SyntaxProblem("only mappings can be merged by <<", *origin.position)
        own.update(source)
        frame.spot.children.update(origin.children)
        frame.inherited.update(source)
