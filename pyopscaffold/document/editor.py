"""Edits of YAML text that change nothing but what they are about: comments, order, quotes and layout stay.

An edit is a splice into the text at the positions that the parser gives, so all other bytes stay by construction
(docs/adr: "YAML is edited by splicing"). The result is read back: where it does not say what the edit asked for, say
because the place is shared through an alias, the edit is refused.

All functions take and return text, never touch files, and raise :class:`DocumentError` that begins with
``file:line``. A path has mapping keys and list indexes. They are for texts of one document.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import yaml

from pyopscaffold.document.reader import Document, Path, Source, read
from pyopscaffold.document.render import is_indented, render_flow, render_lines, render_slot
from pyopscaffold.document.span import Span, line_end
from pyopscaffold.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

_MISSING = object()


def get_value(text: str, path: Path, *, file: str = "<text>") -> Any:
    """Return the value at ``path``, or None where there is none."""
    value = _lookup(_data(_read(text, file)), path)
    return None if value is _MISSING else value


def set_value(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Set the value at ``path``, making the mappings on the way; a string keeps the quotes of the one before."""
    document = _read(text, file)
    present = _present(document, path, file)
    if present == len(path):
        return _checked(text, file, _replaced(_data(document), path, value), lambda root: root.replace(path, value))
    parent, key, *deeper = path[:present], *path[present:]
    for step in reversed(deeper):
        value = {step: value}
    entries = {**(_lookup(_data(document), parent) or {}), key: value}
    wanted = _replaced(_data(document), parent, entries)
    if len(entries) > 1:
        return _checked(text, file, wanted, lambda root: root.add(parent, str(key), value))
    return _checked(text, file, wanted, lambda root: root.replace(parent, entries))


def append_unique(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Append ``value`` to the list at ``path`` unless an equal one is in it; a missing, null or empty list is made.

    Comments after the last item, such as kubebuilder's scaffold markers, stay behind the new one.
    """
    document = _read(text, file)
    found = _lookup(_data(document), path)
    if found is _MISSING or found is None or found == []:
        return set_value(text, path, [value], file=file)
    if not isinstance(found, list):
        raise _misfit(document, path, "a list", file)
    if value in found:
        return text
    return _checked(
        text, file, _replaced(_data(document), path, [*found, value]), lambda root: root.append(path, value)
    )


def remove_value(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Remove every item equal to ``value`` from the list at ``path``; without one, return the text as it is."""
    found = _lookup(_data(_read(text, file)), path)
    if not isinstance(found, list):
        return text
    for index in reversed([index for index, item in enumerate(found) if item == value]):
        text = remove_key(text, (*path, index), file=file)
    return text


def remove_key(text: str, path: Path, *, file: str = "<text>") -> str:
    """Remove the entry at ``path``; where there is none, return the text as it is."""
    document = _read(text, file)
    if not path or _lookup(_data(document), path) is _MISSING:
        return text
    wanted = deepcopy(_data(document))
    del _lookup(wanted, path[:-1])[path[-1]]
    return _checked(text, file, wanted, lambda root: root.remove(path))


# --- the data: what the text is to say ---------------------------------------------------------------------------


def _read(text: str, file: str) -> Document | None:
    documents = read(Source(file, text))
    if len(documents) > 1:
        line = documents[1].position().line
        raise DocumentError(f"{file}:{line}: a second document begins, but only single ones can be edited")
    return documents[0] if documents else None


def _data(document: Document | None) -> Any:
    return document.data if document else None


def _lookup(data: Any, path: Path) -> Any:
    for step in path:
        in_list = isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data)
        if not in_list and not (isinstance(data, dict) and step in data):
            return _MISSING
        data = data[step]
    return data


def _replaced(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    copy = deepcopy(data)
    _lookup(copy, path[:-1])[path[-1]] = value
    return copy


def _present(document: Document | None, path: Path, file: str) -> int:
    """Count the leading steps of ``path`` that are there; the next one must be addable."""
    data = _data(document)
    for depth, step in enumerate(path):
        if _lookup(data, path[: depth + 1]) is not _MISSING:
            continue
        container = _lookup(data, path[:depth])
        if isinstance(container, list):
            problem = f"is a list of {len(container)}, it has no item {step!r}"
            raise _fault(document, path[:depth], problem, file)
        if container is not None and not isinstance(container, dict):
            raise _misfit(document, path[:depth], "a mapping", file)
        if any(isinstance(rest, int) for rest in path[depth:]):
            raise _fault(document, path[:depth], f"has no list at {'.'.join(map(str, path))}", file)
        return depth
    return len(path)


def _misfit(document: Document | None, path: Path, wanted: str, file: str) -> DocumentError:
    return _fault(document, path, f"is not {wanted}", file)


def _fault(document: Document | None, path: Path, problem: str, file: str) -> DocumentError:
    line = document.position(path).line if document else 1
    return DocumentError(f"{file}:{line}: {'.'.join(map(str, path)) or 'the document'} {problem}")


def _checked(text: str, file: str, wanted: Any, edit: Callable[[_Tree], str]) -> str:
    tree = _Tree(text)
    try:
        edited = _with_line_ends_of(text, edit(tree))
        if _data(_read(edited, file)) == wanted:
            return edited
    except (DocumentError, LookupError, ValueError):
        pass
    raise DocumentError(f"{file}:1: the text can't be edited in place", hint="make the change by hand") from None


def _with_line_ends_of(text: str, edited: str) -> str:
    """Give new lines the ends that all lines of ``text`` have; where they are mixed already, new ones end in LF."""
    ends = text.count("\n")
    return re.sub(r"(?<!\r)\n", "\r\n", edited) if ends and text.count("\r\n") == ends else edited


# --- the text ----------------------------------------------------------------------------------------------------


class _Tree:
    """The text and the nodes in it; each method returns the text after one edit."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = yaml.compose(text, Loader=yaml.SafeLoader)
        self._indented = is_indented(self._root)

    def replace(self, path: Path, value: Any) -> str:
        if self._root is None or (not path and isinstance(self._root, yaml.ScalarNode) and not self._root.value):
            head = self._text if not self._text or self._text.endswith("\n") else self._text + "\n"
            return head + render_slot(value, -2, indented=self._indented).lstrip("\n") + "\n"
        span = self._span(path)
        return self._splice_value(span, value)

    def add(self, path: Path, key: str, value: Any) -> str:
        mapping = self._span(path).node
        if mapping.flow_style:
            return self._insert_flow(mapping, render_flow({key: value})[1:-1])
        column = mapping.start_mark.column
        entry = f"{render_flow(key)}:{render_slot(value, column, indented=self._indented)}"
        return self._insert_block(mapping, " " * column + entry)

    def append(self, path: Path, value: Any) -> str:
        sequence = self._span(path).node
        if sequence.flow_style:
            return self._insert_flow(sequence, render_flow(value))
        item = render_lines([value], sequence.start_mark.column, indented=self._indented)
        return self._insert_block(sequence, item)

    def remove(self, path: Path) -> str:
        parent, entry = self._span(path[:-1]), self._span(path)
        count = len(parent.node.value)
        if parent.node.flow_style:
            return self._cut(*entry.flow_range(parent))
        if count == 1:
            return self._splice_value(parent, {} if isinstance(parent.node, yaml.MappingNode) else [])
        return self._cut(*entry.block_range(parent))

    def _span(self, path: Path) -> Span:
        span = Span.root(self._text, self._root)
        for step in path:
            span = span.child(step)
        return span

    def _cut(self, start: int, end: int) -> str:
        return self._text[:start] + self._text[end:]

    def _splice_value(self, span: Span, value: Any) -> str:
        text, node = self._text, span.node
        is_scalar = isinstance(node, yaml.ScalarNode)
        quote = node.style if is_scalar and node.style in ("'", '"') else None
        if span.in_flow:
            slot = " " + render_flow(value, quote)
        else:
            slot = render_slot(value, span.column, indented=self._indented, below_dash=span.below_dash, quote=quote)
        if not slot.startswith("\n") and (is_scalar or node.flow_style) and span.end > span.start:
            return text[: span.start] + slot.removeprefix(" ") + text[span.end :]
        rest_of_line = text[span.end : line_end(text, span.end)]
        if slot.startswith("\n"):
            return text[: span.slot] + rest_of_line.rstrip() + slot + text[span.end + len(rest_of_line) :]
        return text[: span.slot] + slot + text[span.end :]

    def _insert_block(self, container: Any, entry: str) -> str:
        place = line_end(self._text, Span.root(self._text, container).end)
        return f"{self._text[:place]}\n{entry}{self._text[place:]}"

    def _insert_flow(self, container: Any, entry: str) -> str:
        last = container.value[-1]
        place = (last[1] if isinstance(last, tuple) else last).end_mark.index
        return f"{self._text[:place]}, {entry}{self._text[place:]}"
