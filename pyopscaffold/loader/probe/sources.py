"""Where classes and fields stand, and what their docstrings say."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


class Sources:
    """Where classes and fields stand, read from their source text; nothing is known where there is none."""

    def __init__(self) -> None:
        self._classes: dict[str, dict[str, ast.ClassDef]] = {}

    def of(self, cls: type) -> tuple[str, ast.ClassDef | None]:
        """Return the file of a class, and its definition."""
        file = getattr(sys.modules.get(cls.__module__), "__file__", None) or ""
        if file not in self._classes:
            self._classes[file] = _classes_in(file)
        return file, self._classes[file].get(cls.__qualname__.replace("<locals>.", ""))

    def description(self, cls: type) -> str:
        """Return the docstring of a class, "" where it has none (dataclasses make one up)."""
        _, node = self.of(cls)
        if node is not None:
            return _docstring(node.body[0])
        made_up = (cls.__doc__ or "").startswith(f"{cls.__name__}(")
        return "" if made_up else inspect.cleandoc(cls.__doc__ or "")

    def place(self, cls: type) -> Json:
        """Return file and line of a class."""
        file, node = self.of(cls)
        return {"file": file, "line": node.lineno if node else 0}

    def fields(self, cls: type) -> dict[str, Json]:
        """Return file and line of every field, inherited ones included."""
        found: dict[str, Json] = {}
        for base in reversed(cls.__mro__):
            file, node = self.of(base)
            found |= {name: {"file": file, "line": line} for name, line, _ in _annotated(node)}
        return found

    def texts(self, cls: type) -> list[tuple[str, dict[str, str]]]:
        """Return the docstring of each class in the inheritance, and those below its fields; bases first."""
        own = [base for base in reversed(cls.__mro__) if base is not object]
        below = [{name: text for name, _, text in _annotated(self.of(base)[1]) if text} for base in own]
        return list(zip(map(self.description, own), below, strict=True))


def _classes_in(file: str) -> dict[str, ast.ClassDef]:
    try:
        with open(file, "rb") as stream:  # noqa: PTH123 - pathlib would cost a quarter of the start-up
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    return dict(_named_classes(tree, ""))


def _named_classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from _named_classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _named_classes(child, prefix)


def _annotated(node: ast.ClassDef | None) -> Iterator[tuple[str, int, str]]:
    """Yield name, line and docstring of each field that a class itself declares."""
    body = node.body if node else []
    for statement, below in zip(body, [*body[1:], None], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.lineno, _docstring(below)


def _docstring(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        text = statement.value.value
        return _cleaned(text, statement.col_offset) if isinstance(text, str) else ""
    return ""


def _cleaned(text: str, column: int) -> str:
    """As inspect.cleandoc, which would take a code block's indentation for the margin where all else is on one line."""
    head, *lines = text.splitlines() or [""]
    if any(line[:column].strip(" ") for line in lines):
        return inspect.cleandoc(text)  # tabs, or a text that starts left of its quotes
    return "\n".join([head.lstrip(), *(line[column:].rstrip() for line in lines)]).strip("\n")
