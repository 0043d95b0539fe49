"""Writes values as YAML that reads back the same for Kubernetes and for PyYAML."""

from __future__ import annotations

from textwrap import indent
from typing import Any

import yaml

from pyopscaffold.document.scalars import resolve

_NO_WRAP = 1 << 30


class _Dumper(yaml.SafeDumper):
    """Quotes strings that either reader takes for something else, and writes texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        return True


class _IndentedDumper(_Dumper):
    """Indents lists below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, False)  # noqa: FBT003


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None if isinstance(resolve(value), str) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _string)


def is_indented(root: Any) -> bool:
    """Whether the first list below a key of the tree is indented deeper than the key; False without one."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode) and not node.flow_style:
            for _, value in node.value:
                if isinstance(value, yaml.SequenceNode) and not value.flow_style:
                    return bool(value.start_mark.column > node.start_mark.column)
            pending += [value for _, value in reversed(node.value)]
        elif isinstance(node, yaml.SequenceNode):
            pending += reversed(node.value)
    return False


def render_flow(value: Any, quote: str | None = None) -> str:
    """Write ``value`` on one line, as it may stand within brackets; a string in the quotes ``quote``, if given."""
    return _line([value], quote if isinstance(value, str) else None)[1:-1]


def _line(value: Any, style: str | None) -> str:
    written: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=True,
        default_style=style,
        sort_keys=False,
        width=_NO_WRAP,
        allow_unicode=True,
    )
    return written.removesuffix("\n").removesuffix("\n...")


def render_slot(value: Any, column: int, *, indented: bool, below_dash: bool = False, quote: str | None = None) -> str:
    """Write what follows a key or a dash at ``column``: `` value``, or a line break and indented lines.

    The whole document counts as a value of a key at column -2. ``indented`` tells whether lists stand deeper than
    their key; below a dash all do.
    """
    if isinstance(value, str) and "\n" in value:
        head, *lines = _block({"k": value}, indented=indented).removeprefix("k: ").splitlines()
        return "\n".join([f" {head}", *(" " * max(column, 0) + line if line else "" for line in lines)])
    if not isinstance(value, dict | list) or not value:
        return " " + _line(value, quote if isinstance(value, str) else None)
    deeper = column + 2 if isinstance(value, dict) or indented or below_dash or column < 0 else column
    return "\n" + render_lines(value, deeper, indented=indented)


def render_lines(value: dict[str, Any] | list[Any], column: int, *, indented: bool) -> str:
    """Write a collection that is not empty as lines at ``column``, without the last line break."""
    return indent(_block(value, indented=indented).removesuffix("\n"), " " * column)


def _block(value: Any, *, indented: bool) -> str:
    dumper = _IndentedDumper if indented else _Dumper
    written: str = yaml.dump(
        value, Dumper=dumper, default_flow_style=False, sort_keys=False, width=_NO_WRAP, allow_unicode=True
    )
    # behind a text whose last line breaks count, it ends the document
    return written.removesuffix("...\n") if written.endswith("\n...\n") else written
