"""Round-trip edits of YAML text: comments, order, quotes and every line that the edit does not concern stay.

ruamel.yaml keeps comments and quotes but normalises indentation, spacing and line breaks of the whole document.
So each edit is made on ruamel's tree, and only the lines in which its output differs from its output *before* the
edit are taken over into the original text. The result is read back; if it does not say what the tree says,
ruamel's own output wins.

All functions take and return text, never touch files, and raise :class:`DocumentError` that begins with
``file:line``.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from io import StringIO
from typing import TYPE_CHECKING, Any

from pyopscaffold.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ruamel.yaml import YAML

Path = tuple[str | int, ...]

_LIST_UNDER_KEY = re.compile(r"^( *)(?!- |#)\S.*:[ ]*(?:#.*)?\n(?:[ ]*(?:#.*)?\n)*( *)- ", re.MULTILINE)
_NO_WRAP = 1 << 20


def set_value(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Set the value at ``path``, making the mappings on the way; a scalar keeps its comment and its style of quotes."""

    def change(root: Any) -> None:
        parent = _descend(root, path[:-1], file)
        key = path[-1]
        if isinstance(parent, list):
            _check_index(parent, path, file)
        elif key not in parent:
            _append_to_mapping(parent, str(key), _styled(value))
            return
        parent[key] = _styled(value, like=parent[key])

    return _edit(text, change, file)


def remove_key(text: str, path: Path, *, file: str = "<text>") -> str:
    """Remove the entry at ``path``; the text is returned as it is where there is none."""

    def change(root: Any) -> None:
        parent = _find(root, path[:-1])
        if isinstance(parent, list) and isinstance(path[-1], int) and -len(parent) <= path[-1] < len(parent):
            _remove(parent, path[-1] % len(parent))
        elif isinstance(parent, dict) and path[-1] in parent:
            _remove(parent, path[-1])

    return _edit(text, change, file)


def append_unique(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Append ``value`` to the list at ``path`` unless an equal one is there.

    A missing or empty list is made. Comments that follow the last item, such as kubebuilder's scaffold markers,
    stay behind the new one.
    """

    def change(root: Any) -> None:
        target = _descend(root, path, file, leaf=list)
        if value in target:
            return
        trailing = _take_trailing_comment(target)
        target.append(_styled(value))
        _put_trailing_comment(target, trailing)

    return _edit(text, change, file)


def remove_value(text: str, path: Path, value: Any, *, file: str = "<text>") -> str:
    """Remove every item equal to ``value`` from the list at ``path``; without one the text is returned as it is."""

    def change(root: Any) -> None:
        target = _find(root, path)
        if not isinstance(target, list):
            return
        for index in reversed([i for i, item in enumerate(target) if item == value]):
            _remove(target, index)

    return _edit(text, change, file)


def get_value(text: str, path: Path, *, file: str = "<text>") -> Any:
    """The plain value at ``path``, or None where there is none."""
    return _plain(_find(_load(_yaml(text), text, file), path))


# --- loading and dumping ---------------------------------------------------------------------------------------------


def _yaml(text: str) -> YAML:
    from ruamel.yaml import YAML  # noqa: PLC0415 - heavy, and only edits need it

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _NO_WRAP
    yaml.explicit_start = text.startswith("---")
    found = _LIST_UNDER_KEY.search(text)
    indented = found is not None and len(found[2]) > len(found[1])
    yaml.indent(mapping=2, sequence=4 if indented else 2, offset=2 if indented else 0)
    return yaml


def _load(yaml: YAML, text: str, file: str) -> Any:
    from ruamel.yaml.comments import CommentedMap  # noqa: PLC0415
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        root = yaml.load(text)
    except (YAMLError, ValueError, RecursionError, KeyError, IndexError, AttributeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or type(error).__name__
        raise DocumentError(f"{file}:{line}: not one readable YAML document: {problem}") from error
    return CommentedMap() if root is None else root


def _dump(yaml: YAML, root: Any) -> str:
    out = StringIO()
    yaml.dump(root, out)
    return out.getvalue()


def _edit(text: str, change: Callable[[Any], None], file: str) -> str:
    yaml = _yaml(text)
    root = _load(yaml, text, file)
    before = _dump(yaml, root) if text.strip() else ""
    change(root)
    after = _dump(yaml, root)
    if after == before:
        return text
    if before == text or not _has_content(text):
        return text + after if before != text else after
    merged = _transplant(text, before, after)
    return merged if _says(merged, root) else after


def _has_content(text: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines())


def _says(text: str, root: Any) -> bool:
    try:
        return bool(_plain(_load(_yaml(text), text, "")) == _plain(root))
    except DocumentError:
        return False


def _transplant(original: str, before: str, after: str) -> str:
    """Take the difference of ``before`` and ``after`` over into ``original``, of which ``before`` is a re-formatting."""
    lines = original.splitlines(keepends=True)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    source: list[list[str]] = [[] for _ in range(len(old) + 1)]  # the original's lines of each line of `before`
    for _, o1, o2, b1, b2 in SequenceMatcher(None, lines, old, autojunk=False).get_opcodes():
        for offset in range(max(o2 - o1, 0)):
            source[min(b1 + offset, max(b2 - 1, b1))].append(lines[o1 + offset])
    result: list[str] = []
    for tag, b1, b2, a1, a2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        result += [line for group in source[b1:b2] for line in group] if tag == "equal" else new[a1:a2]
    return "".join(result + source[len(old)])


# --- the tree --------------------------------------------------------------------------------------------------------


def _plain(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node


def _find(root: Any, path: Path) -> Any:
    node = root
    for key in path:
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and isinstance(key, int) and -len(node) <= key < len(node):
            node = node[key]
        else:
            return None
    return node


def _descend(root: Any, path: Path, file: str, *, leaf: type = dict) -> Any:
    """The container at ``path``; missing or null ones on the way are made, the last one as a ``leaf``."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq  # noqa: PLC0415

    node = _expect(root, list if not path and leaf is list else (dict, list), (), root, file)
    for depth, key in enumerate(path, start=1):
        last = depth == len(path)
        if isinstance(node, list):
            _check_index(node, path[:depth], file)
        if (node[key] if isinstance(node, list) else node.get(key)) is None:
            fresh = CommentedSeq() if last and leaf is list else CommentedMap()
            if isinstance(node, dict) and key not in node:
                _append_to_mapping(node, str(key), fresh)
            else:
                node[key] = fresh
        node = _expect(node[key], leaf if last and leaf is list else (dict, list), path[:depth], node, file)
        if last and leaf is list and not node:
            node.fa.set_block_style()
    return node


def _expect(node: Any, kind: type | tuple[type, ...], path: Path, parent: Any, file: str) -> Any:
    if isinstance(node, kind):
        return node
    wanted = "a list" if kind is list else "a mapping"
    where = ".".join(map(str, path)) or "the document"
    raise DocumentError(f"{file}:{_line(parent, path)}: {where} is not {wanted}")


def _line(parent: Any, path: Path) -> int:
    try:
        return int(parent.lc.data[path[-1]][0]) + 1
    except (AttributeError, KeyError, IndexError, TypeError):
        return 1


def _check_index(node: Any, path: Path, file: str) -> None:
    index = path[-1]
    if not isinstance(index, int) or not -len(node) <= index < len(node):
        where = ".".join(map(str, path[:-1])) or "the document"
        raise DocumentError(f"{file}:{node.lc.line + 1}: {where} is a list of {len(node)}, it has no item {index!r}")


def _styled(value: Any, *, like: Any = None) -> Any:
    """The value as ruamel's types, so that comments can hang on it; quotes as those of ``like``."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq  # noqa: PLC0415
    from ruamel.yaml.scalarstring import LiteralScalarString, ScalarString  # noqa: PLC0415

    if isinstance(value, dict):
        made = CommentedMap()
        for key, item in value.items():
            made[key] = _styled(item)
        return made
    if isinstance(value, list | tuple):
        return CommentedSeq([_styled(item) for item in value])
    if isinstance(value, str) and "\n" in value:
        return LiteralScalarString(value)
    if isinstance(value, str) and isinstance(like, ScalarString):
        return type(like)(value)
    return value


# --- comments --------------------------------------------------------------------------------------------------------
# ruamel hangs the comment lines and empty lines that follow a node on the last leaf of that node. They are moved when
# the last leaf changes, so that they stay at the end.


def _append_to_mapping(mapping: Any, key: str, value: Any) -> None:
    trailing = _take_trailing_comment(mapping)
    mapping[key] = value
    _put_trailing_comment(mapping, trailing)


def _remove(container: Any, key: Any) -> None:
    is_last = key == (len(container) - 1 if isinstance(container, list) else next(reversed(container)))
    trailing = _take_trailing_comment(container) if is_last else ""
    del container[key]
    _put_trailing_comment(container, trailing)


def _last_leaf(container: Any) -> tuple[Any, Any] | None:
    """The innermost container of the last leaf, and the leaf's key in it."""
    if not container:
        return None
    key = len(container) - 1 if isinstance(container, list) else next(reversed(container))
    value = container[key]
    inner = _last_leaf(value) if isinstance(value, dict | list) and not _is_flow(value) else None
    return inner or (container, key)


def _is_flow(node: Any) -> bool:
    return bool(getattr(node, "fa", None) and node.fa.flow_style())


def _take_trailing_comment(container: Any) -> str:
    """Cut off and return what follows the last leaf's own line; "" if nothing does."""
    leaf = _last_leaf(container)
    if leaf is None or _is_flow(container):
        return ""
    parent, key = leaf
    slot = 0 if isinstance(parent, list) else 2
    tokens = parent.ca.items.get(key)
    token = tokens[slot] if tokens and len(tokens) > slot else None
    if token is None or isinstance(token, list):
        return ""
    own, newline, rest = token.value.partition("\n")
    if own.strip():
        token.value = own + newline
    else:
        tokens[slot] = None
        if not any(tokens):
            del parent.ca.items[key]
    return str(rest)


def _put_trailing_comment(container: Any, comment: str) -> None:
    leaf = _last_leaf(container)
    if not comment or leaf is None:
        return
    from ruamel.yaml.error import CommentMark  # noqa: PLC0415
    from ruamel.yaml.tokens import CommentToken  # noqa: PLC0415

    parent, key = leaf
    slot = 0 if isinstance(parent, list) else 2
    tokens = parent.ca.items.setdefault(key, [None, None, None, None])
    if tokens[slot] is None:
        tokens[slot] = CommentToken("\n" + comment, CommentMark(0), None)
    else:
        tokens[slot].value = tokens[slot].value.rstrip("\n") + "\n" + comment
