"""The macros of the API server's environment, and what their arguments have to be.

Those of the language, of optionals, of two-variable comprehensions (1.32) and of lists (1.34), as
k8s.io/apiserver/pkg/cel/environment/base.go puts them together. ``cel.bind``, and ``existsOne`` with one variable, are
not among them: they are calls like any other, of functions that there are not.
"""

from __future__ import annotations

from typing import Final

from pyopscaffold.cel.ast import (
    Call,
    Constant,
    Expression,
    Has,
    Ident,
    Macro,
    MapLiteral,
    MessageLiteral,
    Position,
    Select,
    SyntaxFault,
    walk,
)

_VARIABLES: Final = {
    **dict.fromkeys([("all", 2), ("exists", 2), ("exists_one", 2)], 1),
    **dict.fromkeys([("map", 2), ("map", 3), ("filter", 2), ("sortBy", 2), ("optMap", 2), ("optFlatMap", 2)], 1),
    **dict.fromkeys([("all", 3), ("exists", 3), ("exists_one", 3), ("existsOne", 3)], 2),
    **dict.fromkeys([(f"transform{what}", count) for what in ("List", "Map", "MapEntry") for count in (3, 4)], 2),
}
"""How many variables a macro of this name, with so many arguments, starts with."""

_ACCUMULATOR: Final = "__result__"
_WITHOUT_ACCUMULATOR: Final = ("optMap", "optFlatMap")


def expand(call: Call) -> Call | Has | Macro:
    """Return the macro that a call is, or the call.

    Raises:
        SyntaxFault: the arguments are none of that macro's.

    """
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.arguments) == 1 else call
    count = _VARIABLES.get((call.function, len(call.arguments)))
    if count is None:
        return call
    if call.function == "sortBy" and isinstance(call.target, Constant | MapLiteral | MessageLiteral):
        raise SyntaxFault("sortBy is for lists", _start(call.target))
    variables = tuple(_variable(argument, call.function) for argument in call.arguments[:count])
    if count > 1 and variables[0] == variables[1]:
        raise SyntaxFault(f"{call.function}() has the variable {variables[1].name} twice", variables[1].position)
    return Macro(call.function, call.target, variables, call.arguments[count:], position=call.position)


def _has(call: Call) -> Has:
    (argument,) = call.arguments
    if not isinstance(argument, Select | Has):
        raise SyntaxFault("has() takes a field such as has(self.name)", _start(argument))
    return Has(argument.operand, argument.field, position=call.position)


def _variable(argument: Expression, macro: str) -> Ident:
    if not isinstance(argument, Ident):
        raise SyntaxFault(
            f"{macro}() starts with the name of a variable, as in {macro}(x, …), found none", _start(argument)
        )
    if argument.name == _ACCUMULATOR and macro not in _WITHOUT_ACCUMULATOR:
        raise SyntaxFault(f"{_ACCUMULATOR} is CEL's own name, choose another", _start(argument))
    return argument


def _start(argument: Expression) -> Position:
    return min(node.position for node in walk(argument))
