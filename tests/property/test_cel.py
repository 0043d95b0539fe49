"""Whatever the expression, its text parses to it; whatever the text, parsing ends with a tree or with a fault."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold import cel
from pyopscaffold.cel import ast

HERE = cel.Position(0, 1, 1)
BINARY = ["_+_", "_-_", "_*_", "_/_", "_%_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "@in"]
MACROS = [("all", 1, 1), ("all", 2, 1), ("map", 1, 2), ("filter", 1, 1), ("transformMap", 2, 2), ("optMap", 1, 1)]

variables = st.sampled_from(["self", "oldSelf", ".a", "_", "inn"])
functions = st.sampled_from(["f", "size", "startsWith", "cel"])
fields = st.sampled_from(["spec", "namespace", "in", "a-b/c. d", "null", "_1"])


def _constant(kind: ast.ConstantKind, values: st.SearchStrategy[Any]) -> st.SearchStrategy[ast.Expression]:
    return values.map(lambda value: ast.Constant(kind, value, position=HERE))


leaves: st.SearchStrategy[ast.Expression] = st.one_of(
    _constant("null", st.none()),
    _constant("bool", st.booleans()),
    _constant("int", st.integers(-(2**63), 2**63 - 1)),
    _constant("uint", st.integers(0, 2**64 - 1)),
    _constant("double", st.floats(allow_nan=False, allow_infinity=False)),
    _constant("string", st.text()),
    _constant("bytes", st.binary()),
    variables.map(lambda name: ast.Ident(name, position=HERE)),
)


def _call(function: str, *arguments: ast.Expression, target: ast.Expression | None = None) -> ast.Expression:
    return ast.Call(function, arguments, target, position=HERE)


def _macro(shape: tuple[str, int, int], nodes: list[ast.Expression]) -> ast.Expression:
    name, bound, arguments = shape
    names = tuple(ast.Ident(letter, position=HERE) for letter in "xy"[:bound])
    return ast.Macro(name, nodes[0], names, tuple(nodes[1 : 1 + arguments]), position=HERE)


def _grown(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Expression]:
    flags, some = st.booleans(), st.lists(inner, max_size=3)
    entries = st.lists(st.builds(ast.Entry, inner, inner, flags), max_size=2)
    values = st.lists(st.builds(ast.FieldValue, fields, inner, flags), max_size=2)
    return st.one_of(
        st.builds(ast.Select, inner, fields, position=st.just(HERE)),
        st.builds(ast.Has, inner, fields, position=st.just(HERE)),
        st.builds(_call, st.sampled_from(BINARY), inner, inner),
        st.builds(_call, st.sampled_from(["!_", "-_"]), inner),
        st.builds(_call, st.just("_?_:_"), inner, inner, inner),
        st.builds(_call, st.sampled_from(["_[_]", "_[?_]"]), inner, inner),
        st.builds(lambda node, name: _call("_?._", node, ast.Constant("string", name, position=HERE)), inner, fields),
        st.builds(lambda sign, nodes: _call(sign, *nodes), st.sampled_from(["_&&_", "_||_"]), _several(inner)),
        st.builds(lambda name, nodes: _call(name, *nodes), functions, some),
        st.builds(lambda name, nodes, node: _call(name, *nodes, target=node), functions, some, inner),
        st.builds(_macro, st.sampled_from(MACROS), st.lists(inner, min_size=3, max_size=3)),
        st.lists(st.builds(ast.Element, inner, flags), max_size=3).map(
            lambda items: ast.ListLiteral(tuple(items), position=HERE)
        ),
        entries.map(lambda items: ast.MapLiteral(tuple(items), position=HERE)),
        values.map(lambda items: ast.MessageLiteral("a.T", tuple(items), position=HERE)),
    )


def _several(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[list[ast.Expression]]:
    return st.lists(inner, min_size=2, max_size=4)


expressions = st.recursive(leaves, _grown, max_leaves=12)
signs = ". .? [ ] ( ) { } , : ? + - * ! == && || in"
words = "self a 1 1u .5 'x' \"\"\" r' ` has all map true //"
tokens = st.sampled_from([*signs.split(), *words.split(), "\n"])


@given(expressions)
def test_text_of_a_tree_parses_to_it(tree: ast.Expression) -> None:
    """Nothing is lost or moved between a tree and its text, in whatever way nodes stand within nodes."""
    assert cel.parse(written(tree)) == tree


@given(st.one_of(st.text(), st.lists(tokens).map(" ".join), st.lists(tokens).map("".join)))
def test_any_text_is_answered(text: str) -> None:
    """There is a tree or a fault within the text, and nothing else."""
    try:
        places = [node.position.offset for node in cel.walk(cel.parse(text))]
    except cel.SyntaxFault as fault:
        places = [fault.position.offset]
    assert 0 <= min(places) <= max(places) <= len(text)


def written(node: ast.Expression) -> str:  # noqa: PLR0911 - one for each kind of node
    """Return the text of a tree, with all parentheses that it may have."""
    match node:
        case ast.Constant():
            return _literal(node)
        case ast.Ident():
            return node.name
        case ast.Select():
            return f"({written(node.operand)}).{_field(node.field)}"
        case ast.Has():
            return f"has(({written(node.operand)}).{_field(node.field)})"
        case ast.Macro():
            return f"({written(node.target)}).{node.name}({_list(*node.variables, *node.arguments)})"
        case ast.Call():
            return _call_text(node)
        case ast.ListLiteral():
            return f"[{', '.join('?' * item.optional + written(item.value) for item in node.elements)}]"
        case ast.MapLiteral():
            pairs = ("?" * item.optional + f"{written(item.key)}: {written(item.value)}" for item in node.entries)
            return f"{{{', '.join(pairs)}}}"
        case ast.MessageLiteral():
            pairs = ("?" * item.optional + f"{_field(item.name)}: {written(item.value)}" for item in node.fields)
            return f"{node.type_name}{{{', '.join(pairs)}}}"


def _call_text(node: ast.Call) -> str:  # noqa: PLR0911 - one for each form of operator
    if node.target is not None:
        return f"({written(node.target)}).{node.function}({_list(*node.arguments)})"
    operands = [f"({written(argument)})" for argument in node.arguments]
    match node.function:
        case "_?._":
            assert isinstance(node.arguments[1], ast.Constant)
            return f"{operands[0]}.?{_field(str(node.arguments[1].value))}"
        case "_[_]" | "_[?_]":
            return f"{operands[0]}[{'?' * ('?' in node.function)}{operands[1]}]"
        case "_?_:_":
            return f"{operands[0]} ? {operands[1]} : {operands[2]}"
        case "!_" | "-_":
            return node.function[0] + operands[0]
        case "@in":
            return " in ".join(operands)
        case function if function.startswith("_"):
            return f" {function.strip('_')} ".join(operands)
        case function:
            return f"{function}({_list(*node.arguments)})"


def _list(*nodes: ast.Expression) -> str:
    return ", ".join(map(written, nodes))


def _field(name: str) -> str:
    return name if name.isidentifier() and name not in {"in", "null"} else f"`{name}`"


def _literal(node: ast.Constant) -> str:
    match node.kind, node.value:
        case "string", str() as text:
            return "'" + "".join(c if c.isalnum() else f"\\U{ord(c):08x}" for c in text) + "'"
        case "bytes", bytes() as data:
            return 'b"' + "".join(f"\\x{byte:02X}" for byte in data) + '"'
        case "uint", int() as value:
            return f"{value}u"
        case "double", value:
            return repr(value)
        case _, value:
            return "null" if value is None else str(value).lower()
