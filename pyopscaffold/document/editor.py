"""Edits of YAML text that change nothing but what they are about: comments, order, quotes and layout stay.

An edit is a splice into the text at the positions that the parser gives, so all other bytes stay by construction
(docs/adr: "YAML is edited by splicing"). The result is read back: where it does not say what the edit asked for, say
because the place is shared through an alias, the edit is refused.

All functions take and return text, never touch files, and raise :class:`DocumentError` that begins with
``file:line``. A path has mapping keys and list indexes. They are for texts of one document.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from pyopscaffold.document.builder import SyntaxProblem
from pyopscaffold.document.reader import Document, Path, Source, read
from pyopscaffold.document.render import is_indented, render_flow, render_lines, render_slot
from pyopscaffold.document.span import Span, line_end
from pyopscaffold.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Edit = tuple[Path, Any, bool]

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


def make_edits(text: str, edits: Sequence[Edit], *, file: str = "<text>") -> str:
    """Make several edits at once, each a path, the value to set and whether to remove instead; all of them or none.

    No path may lead into another one. A text that is JSON stays JSON. A place that is shared through an alias is not
    edited, as that would change other places too.
    """
    document = _read(text, file)
    wanted = _unshared(_data(document))
    for path, value, remove in edits:
        if remove and _lookup(wanted, path) is not _MISSING:
            del _lookup(wanted, path[:-1])[path[-1]]
        elif not remove:
            _present(document, path, file)
            wanted = _with(wanted, path, value)
    is_json = _is_json(text)
    for item_by_item in (True, False):
        try:
            tree = _Tree(text, is_json=is_json)
            splices = [
                (len(edit[0]), splice)
                for edit in edits
                for splice in _splices(tree, document, edit, file, item_by_item=item_by_item)
            ]
            # what two entries add at one place: the deeper one's comes first
            ordered = [splice for _, splice in sorted(splices, key=lambda item: (item[1].start, -item[0]))]
            edited = _with_line_ends_of(text, _spliced(text, ordered))
            if _data(_read(edited, file)) == wanted and (not is_json or _is_json(edited)):
                return edited
        except (DocumentError, LookupError, ValueError, yaml.YAMLError):
            pass
    raise DocumentError(f"{file}:1: the text can't be edited in place", hint="make the change by hand")


def have_place(text: str, edits: Sequence[Edit], *, file: str = "<text>") -> list[bool]:
    """Tell of each edit whether the text has a place for it, one that no alias repeats."""
    document = _read(text, file)
    try:
        tree = _Tree(text, is_json=_is_json(text))
    except yaml.YAMLError:
        return [False] * len(edits)
    return [_has_place(tree, document, edit, file) for edit in edits]


def _has_place(tree: _Tree, document: Document | None, edit: Edit, file: str) -> bool:
    try:
        tuple(_splices(tree, document, edit, file))
    except (DocumentError, LookupError, ValueError):
        return False
    return True


def _splices(
    tree: _Tree, document: Document | None, edit: Edit, file: str, *, item_by_item: bool = True
) -> Iterator[_Splice]:
    """Yield what an edit does to the text; a list may lose and gain items, so that the others stay as they are."""
    path, value, remove = edit
    if remove:
        if _lookup(_data(document), path) is not _MISSING:
            yield tree.remove(path)
        return
    present = _present(document, path, file)
    if present == len(path):
        items = list(_items(tree, path, _lookup(_data(document), path), value)) if item_by_item else []
        yield from items or [tree.replace(path, value)]
        return
    parent, key, *deeper = path[:present], *path[present:]
    for step in reversed(deeper):
        value = {step: value}
    if _lookup(_data(document), parent):
        yield tree.add(parent, str(key), value)
    else:
        yield tree.replace(parent, {key: value})


def _items(tree: _Tree, path: Path, old: Any, new: Any) -> Iterator[_Splice]:
    """Yield what changes, removes and appends items of a list; nothing where all of them become others."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return
    same = [index for index, (was, now) in enumerate(zip(old, new, strict=False)) if was == now]
    if same and len(old) == len(new):
        yield from (tree.replace((*path, index), item) for index, item in enumerate(new) if index not in same)
        return
    kept, gone = 0, []
    for index, item in enumerate(old):
        if kept < len(new) and item == new[kept]:
            kept += 1
        else:
            gone.append(index)
    if kept:
        yield from tree.remove_items(path, gone)
        yield from (tree.append(path, item) for item in new[kept:])


def _spliced(text: str, splices: Iterable[_Splice]) -> str:
    parts, done = [], 0
    for start, end, new in splices:
        if start < done:
            raise ValueError("two edits are about one place")
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _unshared(data: Any) -> Any:
    """Copy a value so that what an alias repeats is there as often as it is read."""
    if isinstance(data, dict):
        return {key: _unshared(value) for key, value in data.items()}
    return [_unshared(item) for item in data] if isinstance(data, list) else data


def _with(data: Any, path: Path, value: Any) -> Any:
    """Set a value in place; where the path ends early, or leads to null, mappings are made."""
    if not path:
        return value
    at = next((n for n in range(len(path)) if _lookup(data, path[: n + 1]) is _MISSING), len(path) - 1)
    for step in reversed(path[at + 1 :]):
        value = {step: value}
    container = _lookup(data, path[:at])
    if container is None:
        return _with(data, path[:at], {path[at]: value})
    container[path[at]] = value
    return data


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    from pyopscaffold.document.jsontext import build_json  # noqa: PLC0415 - it takes time to load, and few have JSON

    try:
        return bool(build_json(text))
    except SyntaxProblem:
        return False


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


def _checked(text: str, file: str, wanted: Any, edit: Callable[[_Tree], _Splice]) -> str:
    tree = _Tree(text)
    try:
        edited = _with_line_ends_of(text, _spliced(text, [edit(tree)]))
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


class _Splice(NamedTuple):
    """What replaces a part of the text, given by its offsets."""

    start: int
    end: int
    text: str


def _composed(text: str) -> Any:
    """Parse by libyaml, which is thirty times faster, but counts no byte order mark, and refuses surrogates of JSON."""
    if yaml.__with_libyaml__ and not text.startswith("\ufeff"):
        with suppress(yaml.YAMLError):
            return yaml.compose(text, Loader=yaml.CSafeLoader)
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _shared(root: Any) -> set[int]:
    """Return the identities of nodes that stand at several places, by aliases."""
    seen: set[int] = set()
    shared: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            shared.add(id(node))
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            pending += chain.from_iterable(node.value)
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
    return shared


class _Tree:
    """The text and the nodes in it; each method returns what one edit does to the text."""

    def __init__(self, text: str, *, is_json: bool = False) -> None:
        self._text = text
        self._is_json = is_json
        # tabs are between tokens only in JSON, where YAML has no place for them
        self._root = _composed(text.replace("\t", " ") if is_json else text)
        self._indented = is_indented(self._root)
        self._shared = _shared(self._root)

    def replace(self, path: Path, value: Any) -> _Splice:
        if self._root is None or (not path and isinstance(self._root, yaml.ScalarNode) and not self._root.value):
            end = len(self._text)
            line = "" if not self._text or self._text.endswith("\n") else "\n"
            return _Splice(end, end, line + render_slot(value, -2, indented=self._indented).lstrip("\n") + "\n")
        span = self._span(path)
        if self._is_json:
            return _Splice(span.start, span.end, self._json(value, span.entry))
        return self._splice_value(span, value)

    def add(self, path: Path, key: str, value: Any) -> _Splice:
        mapping = self._span(path).node
        if self._is_json:
            start = mapping.value[-1][0].start_mark.index
            entry = f"{json.dumps(key, ensure_ascii=False)}: {self._json(value, start)}"
            return self._insert_flow(mapping, entry, f"\n{self._margin(start)}" if self._margin(start) else " ")
        if mapping.flow_style:
            return self._insert_flow(mapping, render_flow({key: value})[1:-1])
        first = mapping.value[0][0].start_mark
        column = (first if first.line > mapping.start_mark.line else mapping.start_mark).column  # behind an anchor
        entry = f"{render_flow(key)}:{render_slot(value, column, indented=self._indented)}"
        return self._insert_block(mapping, " " * column + entry)

    def append(self, path: Path, value: Any) -> _Splice:
        sequence = self._span(path).node
        if self._is_json:
            start = sequence.value[-1].start_mark.index
            separator = f"\n{self._margin(start)}" if self._margin(start) else " "
            return self._insert_flow(sequence, self._json(value, start), separator)
        if sequence.flow_style:
            return self._insert_flow(sequence, render_flow(value))
        item = render_lines([value], sequence.start_mark.column, indented=self._indented)
        return self._insert_block(sequence, item)

    def remove(self, path: Path) -> _Splice:
        parent, entry = self._span(path[:-1]), self._span(path)
        count = len(parent.node.value)
        if parent.node.flow_style:
            return _Splice(*entry.flow_range(parent), "")
        if count == 1:
            return self._splice_value(parent, {} if isinstance(parent.node, yaml.MappingNode) else [])
        return _Splice(*entry.block_range(parent), "")

    def remove_items(self, path: Path, indexes: Sequence[int]) -> Iterator[_Splice]:
        """Yield what it takes to have items leave a list, of which some stay."""
        parent = self._span(path)
        for index in indexes:
            entry = self._span((*path, index))
            if not parent.node.flow_style:
                yield _Splice(*entry.block_range(parent), "")
            elif index + 1 not in indexes:  # the last of some that stand together
                first = next(at for at in range(index, -1, -1) if at - 1 not in indexes)
                is_last = index + 1 == len(parent.node.value)
                start = self._span((*path, first - 1)).end if is_last else self._span((*path, first)).entry
                yield _Splice(start, entry.flow_range(parent)[1], "")

    def _span(self, path: Path) -> Span:
        span = Span.root(self._text, self._root)
        for step in path:
            span = span.child(step)
            if id(span.node) in self._shared:
                raise LookupError("an alias repeats it")
        return span

    def _margin(self, offset: int) -> str:
        """Give what stands before ``offset`` in its line if that is blank, else ""."""
        before = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        return before if not before.strip() else ""

    def _json(self, value: Any, entry: int) -> str:
        """Write a value over as many lines as it takes if ``entry`` begins a line, with the text's own indentation."""
        margin, unit = self._margin(entry), re.search(r"\n([ \t]+)", self._text)
        if not margin or unit is None:
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False, indent=unit[1]).replace("\n", f"\n{margin}")

    def _splice_value(self, span: Span, value: Any) -> _Splice:
        text, node = self._text, span.node
        is_scalar = isinstance(node, yaml.ScalarNode)
        quote = node.style if is_scalar and node.style in ("'", '"') else None
        was_flow_list = isinstance(node, yaml.SequenceNode) and node.flow_style and node.value
        if span.in_flow or (was_flow_list and isinstance(value, list)):
            slot = " " + render_flow(value, quote)
        else:
            slot = render_slot(value, span.column, indented=self._indented, below_dash=span.below_dash, quote=quote)
        if not slot.startswith("\n") and (is_scalar or node.flow_style) and span.end > span.start:
            return _Splice(span.start, span.end, slot.removeprefix(" "))
        if slot.startswith("\n"):
            rest_of_line = text[span.end : line_end(text, span.end)]
            return _Splice(span.slot, span.end + len(rest_of_line), rest_of_line.rstrip() + slot)
        return _Splice(span.slot, span.end, slot)

    def _insert_block(self, container: Any, entry: str) -> _Splice:
        place = line_end(self._text, Span.root(self._text, container).end)
        return _Splice(place, place, f"\n{entry}")

    def _insert_flow(self, container: Any, entry: str, separator: str = " ") -> _Splice:
        last = container.value[-1]
        place = (last[1] if isinstance(last, tuple) else last).end_mark.index
        return _Splice(place, place, f",{separator}{entry}")
