"""JSON merge patch (RFC 7396) and JSON patch (RFC 6902)."""

from __future__ import annotations

import copy
from typing import Any

from pyopscaffold.testing.fake.failure import Failure, bad_request

_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


def merge_patch(value: Any, patch: Any) -> Any:
    """Return the value as the patch leaves it."""
    if not isinstance(patch, dict):
        return patch
    out = dict(value) if isinstance(value, dict) else {}
    for name, item in patch.items():
        if item is None:
            out.pop(name, None)
        else:
            out[name] = merge_patch(out.get(name), item)
    return out


def json_patch(value: Any, operations: Any) -> Any:
    """Return the value as the operations leave it; raises Failure where one can't be done, as the server does."""
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("a JSON patch is a list of operations")
    out = copy.deepcopy(value)
    for operation in operations:
        if operation.get("op") not in _OPERATIONS:
            raise bad_request(f"error decoding patch: {operation.get('op')!r} is no operation")
        try:
            out = _operate(out, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            message = f"the server rejected our request due to an error in our request: {operation}: {error}"
            raise Failure(422, "Invalid", message) from error
    return out


def _operate(root: Any, operation: dict[str, Any]) -> Any:
    path = _steps(operation["path"])
    match operation["op"]:
        case "test":
            if _value_at(root, path) != operation.get("value"):
                raise ValueError(f"testing value {operation['path']} failed")
            return root
        case "remove":
            return _remove(root, path)
        case "replace":
            return _replace(root, path, operation["value"])
        case "add":
            return _add(root, path, operation["value"])
        case "copy":
            return _add(root, path, copy.deepcopy(_get(root, _steps(operation["from"]))))
        case _:
            source = _steps(operation["from"])
            moved = _get(root, source)
            return _add(_remove(root, source), path, moved)


def _steps(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON pointer")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _get(root: Any, path: list[str]) -> Any:
    for step in path:
        root = root[_index(root, step)] if isinstance(root, list) else root[step]
    return root


def _index(parent: list[Any], step: str) -> int:
    index = int(step)
    if not -1 < index < len(parent):
        raise IndexError(f"there is no item {step}")
    return index


def _add(root: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _get(root, path[:-1]), path[-1]
    if isinstance(parent, list):
        index = len(parent) if last == "-" else int(last)
        if not -1 < index <= len(parent):
            raise IndexError(f"there is no place {last}")
        parent.insert(index, value)
    else:
        parent[last] = value
    return root


def _replace(root: Any, path: list[str], value: Any) -> Any:
    """Put a value in the place of another; like the server's library, mind not if a map has none there."""
    if not path:
        return value
    parent, last = _get(root, path[:-1]), path[-1]
    parent[_index(parent, last) if isinstance(parent, list) else last] = value
    return root


def _value_at(root: Any, path: list[str]) -> Any:
    """Return a value, or None where a map has none, which is the same to the server's library."""
    parent = _get(root, path[:-1]) if path else root
    return parent.get(path[-1]) if path and isinstance(parent, dict) else _get(root, path)


def _remove(root: Any, path: list[str]) -> Any:
    parent, last = _get(root, path[:-1]), path[-1]
    del parent[_index(parent, last) if isinstance(parent, list) else last]
    return root
