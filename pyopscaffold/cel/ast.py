"""The tree of an expression, and where in the text its nodes stand.

Operators are calls by cel-go's names: ``a + b`` is ``Call("_+_", (a, b))``, ``a[0]`` is ``Call("_[_]", …)``, and
``a in b`` is ``Call("@in", …)``. A chain of ``&&`` or ``||`` is one call with as many arguments. Macros stay as they
are written.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the text: ``offset`` counts characters from 0, ``line`` and ``column`` from 1."""

    offset: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class SyntaxFault(ValueError):  # noqa: N818 - SyntaxError is Python's
    """The text is no expression; ``message`` says why, without the place."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(f"{message} at {position}")
        self.message = message
        self.position = position


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all nodes have; two trees are equal wherever they stand.

    ``position`` is that of the word or sign that makes the node: an operator, the name of a field or of a function.
    """

    position: Position = field(compare=False, repr=False)


ConstantKind: TypeAlias = typing.Literal["null", "bool", "int", "uint", "double", "string", "bytes"]


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A literal; ``kind`` tells 1 from 1u, 1.0 and true."""

    kind: ConstantKind
    value: bool | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """The name of a variable; a leading dot, which looks it up in the root scope, is part of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    """``operand.field``; ``operand.?field`` is a call of ``_?._``."""

    operand: Expression
    field: str


@dataclass(frozen=True, slots=True)
class Has(Node):
    """``has(operand.field)``."""

    operand: Expression
    field: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function or an operator; ``target`` is the receiver of ``target.function(…)``."""

    function: str
    arguments: tuple[Expression, ...]
    target: Expression | None = None


@dataclass(frozen=True, slots=True)
class Macro(Node):
    """``target.name(variables…, arguments…)``, where the variables are bound within the arguments."""

    name: str
    target: Expression
    variables: tuple[Ident, ...]
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """One of a list; an ``optional`` one is ``?value``."""

    value: Expression
    optional: bool = False


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    """``[a, ?b]``."""

    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One of a map; an ``optional`` one is ``?key: value``."""

    key: Expression
    value: Expression
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    """``{a: b, ?c: d}``."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One field of a message; an ``optional`` one is ``?name: value``."""

    name: str
    value: Expression
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MessageLiteral(Node):
    """``type.name{field: value}``."""

    type_name: str
    fields: tuple[FieldValue, ...]


Expression: TypeAlias = Constant | Ident | Select | Has | Call | Macro | ListLiteral | MapLiteral | MessageLiteral


def children(node: Expression) -> tuple[Expression, ...]:  # noqa: PLR0911 - one for each kind of node
    """Return the nodes right below, in the order of the text; the variables of a macro are none."""
    match node:
        case Select() | Has():
            return (node.operand,)
        case Call():
            return node.arguments if node.target is None else (node.target, *node.arguments)
        case Macro():
            return (node.target, *node.arguments)
        case ListLiteral():
            return tuple(element.value for element in node.elements)
        case MapLiteral():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case MessageLiteral():
            return tuple(item.value for item in node.fields)
        case _:
            return ()


def variables(root: Expression) -> Iterator[str]:
    """Yield the name of every variable that is read, as often as it is."""
    return (node.name for node in walk(root) if isinstance(node, Ident))


def walk(root: Expression) -> Iterator[Expression]:
    """Yield every node, parents first, in the order of the text."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))
