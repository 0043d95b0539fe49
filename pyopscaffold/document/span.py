"""Where a YAML node's text begins and ends, without the comments and empty lines around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml


def line_end(text: str, offset: int) -> int:
    """Find the end of the line that ``offset`` is on, before its line break."""
    found = text.find("\n", offset)
    return len(text) if found < 0 else found


@dataclass(frozen=True)
class Span:
    """One node and its place in ``text``, as character offsets.

    ``slot`` is where the value's room begins: right after the key's colon or the item's dash. ``entry`` is where
    the key or dash stands, ``column`` the indentation that the value's own lines are counted from, ``index`` its
    number among its siblings. ``in_flow`` tells whether it is inside of brackets, where no lines can be broken,
    ``below_dash`` whether it is an item in block style.
    """

    text: str
    node: Any
    slot: int
    entry: int
    column: int
    index: int = 0
    in_flow: bool = False
    below_dash: bool = False

    @classmethod
    def root(cls, text: str, node: Any) -> Span:
        """Make the span of the whole document, or of a node by itself."""
        return cls(text, node, node.start_mark.index, node.start_mark.index, -2)

    @property
    def start(self) -> int:
        """Offset of the value's first character."""
        return int(self.node.start_mark.index)

    @property
    def end(self) -> int:
        """Offset after the value's last character."""
        return _end(self.text, self.node)

    def child(self, step: str | int) -> Span:
        """Make the span of one entry; KeyError or IndexError where there is none."""
        if isinstance(self.node, yaml.MappingNode):
            for index, (key, value) in enumerate(self.node.value):
                if key.value == step:
                    return self._entry(index, key, value)
            raise KeyError(step)
        return self._item(int(step))

    def _entry(self, index: int, key: Any, value: Any) -> Span:
        colon = self.text.index(":", key.end_mark.index)
        start = key.start_mark
        return Span(self.text, value, colon + 1, start.index, start.column, index, bool(self.node.flow_style))

    def _item(self, index: int) -> Span:
        value = self.node.value[index]
        start = value.start_mark.index
        if self.node.flow_style:
            return Span(self.text, value, start, start, self.node.start_mark.column, index, in_flow=True)
        after = _end(self.text, self.node.value[index - 1]) if index else self.node.start_mark.index
        dash = after if not index else self._dash(line_end(self.text, after))
        return Span(self.text, value, dash + 1, dash, self.node.start_mark.column, index, below_dash=True)

    def _dash(self, offset: int) -> int:
        """Find the first dash at the sequence's column on a line after ``offset``."""
        margin = "\n" + " " * self.node.start_mark.column + "-"
        return self.text.index(margin, offset) + len(margin) - 1

    def _sibling(self, parent: Span, offset: int) -> Span | None:
        number = self.index + offset
        if not 0 <= number < len(parent.node.value):
            return None
        if isinstance(parent.node, yaml.MappingNode):
            return parent._entry(number, *parent.node.value[number])
        return parent._item(number)

    def flow_range(self, parent: Span) -> tuple[int, int]:
        """Give the text to cut so that this entry leaves a flow collection, one comma included."""
        following, previous = self._sibling(parent, 1), self._sibling(parent, -1)
        if following is not None:
            return self.entry, following.entry
        return (self.entry if previous is None else previous.end), self.end

    def block_range(self, parent: Span) -> tuple[int, int]:
        """Give the text to cut so that this entry leaves a block collection: whole lines where it has them."""
        line_start = self.text.rfind("\n", 0, self.entry) + 1
        following = self._sibling(parent, 1)
        if self.text[line_start : self.entry].strip() and following is not None:
            return self.entry, following.entry
        stop = line_end(self.text, self.end)
        return (line_start, stop + 1) if stop < len(self.text) else (max(line_start - 1, 0), stop)


def _end(text: str, node: Any) -> int:
    """Find the end of a node's text; a block collection's own mark lies behind the comments that follow it."""
    while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    end = int(node.end_mark.index)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return len(text[:end].rstrip())
    return end
