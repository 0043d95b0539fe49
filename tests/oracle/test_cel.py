"""cel-go, in the environment of the API server, and we parse the same expressions to the same trees."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from pyopscaffold import cel
from pyopscaffold.cel import ast
from tests.oracle.grammar import ask

DATA = Path(__file__).with_name("testdata") / "cel"
GOOD, BAD = ((DATA / name).read_text().splitlines() for name in ("good.txt", "bad.txt"))
NESTED = [
    *("(" * count + "a" + ")" * count for count in (249, 250, 10_000)),
    *("[" * count + "]" * count for count in (250, 251)),
    *("f(" * count + "a" + ")" * count for count in (249, 250)),
    *("a[" * count + "a" + "]" * count for count in (249, 250)),
    *("a + (" * count + "a" + ")" * count for count in (124, 125)),
    *("a == (" * count + "a" + ")" * count for count in (124, 125)),
    *("a * b + c * (" * count + "a" + ")" * count for count in (82, 83, 84)),
    *("a ? b : " * count + "c" for count in (249, 250)),
    *("a" + " + a" * count for count in (250, 251)),
    *("a" + " < a" * count for count in (250, 251)),
    *("a" + ".a" * count for count in (250, 251)),
    *("a" + ".?a" * count for count in (250, 251)),
    *("a" + ".a()" * count for count in (250, 251)),
    *("a" + "[0]" * count for count in (250, 251)),
    *("f(" * 100 + "a" + ".a" * count + ")" * 100 for count in (250, 251)),
    *("a.all(x, " * count + "a" + ")" * count for count in (248, 249, 250, 251)),
    *("has(" + "a." * count + "b)" for count in (250, 251)),
    "a" + " || a" * 2_000,
    "!" * 3_000 + "a",
    "-" * 3_001 + "1",
]
SPANNING = [
    "self.a\n  == 1\t&& // why\r\n  self.b\f",
    "'''a\r\nb\rc'''",
    "'a\nb'",
    "b'a\rb'",
    "",
    " ",
    "\n",
    "a\u00a0b",
    "a\x00",
    "'\x00'",
    "a" * 100_000,
    "a" * 100_001,
    "0" * 5_000 + "1",
    "1" * 5_000,
    "1" * 5_000 + ".0",
    "\ufeffa",
]
WITHOUT_TREE = {"has(has(a.b))": "with has() as a macro, its argument is a field"}


def test_same_verdicts_and_trees() -> None:
    """What cel-go takes, we take, and see the same in it; what it refuses, we refuse."""
    expressions = [*GOOD, *BAD, *NESTED, *SPANNING, *WITHOUT_TREE]
    answers = ask({"cel": expression} for expression in expressions)
    different = []
    for expression, answer in zip(expressions, answers, strict=True):
        try:
            ours: Any = shape(cel.parse(expression))
        except cel.SyntaxFault as fault:
            ours = str(fault)
        same = isinstance(ours, str) if answer["error"] else ours == answer["tree"] or expression in WITHOUT_TREE
        if not same:
            different.append((expression[:60], answer["error"] or answer["tree"], ours))
    assert different == []


def test_the_cases_are_what_they_are_called() -> None:
    """The lists hold good and bad ones, as Go says: the comparison is not one of refusals."""
    for lines, refused in ((GOOD, False), (BAD, True)):
        answers = zip(lines, ask({"cel": line} for line in lines), strict=True)
        assert [line for line, answer in answers if bool(answer["error"]) != refused] == []


def shape(node: ast.Expression | None) -> Any:  # noqa: PLR0911 - one for each kind of node
    """Return a tree as testdata/grammar/main.go writes it, where macros are calls."""
    match node:
        case None:
            return None
        case ast.Constant():
            return [node.kind, _text(node)]
        case ast.Ident():
            return ["ident", node.name]
        case ast.Select():
            return ["select", shape(node.operand), node.field]
        case ast.Has():
            return ["call", "has", None, ["select", shape(node.operand), node.field]]
        case ast.Macro():
            return ["call", node.name, *map(shape, (node.target, *node.variables, *node.arguments))]
        case ast.Call():
            return ["call", node.function, *map(shape, (node.target, *node.arguments))]
        case ast.ListLiteral():
            return ["list", *([shape(item.value), item.optional] for item in node.elements)]
        case ast.MapLiteral():
            return ["map", *([shape(item.key), shape(item.value), item.optional] for item in node.entries)]
        case ast.MessageLiteral():
            fields = ([item.name, shape(item.value), item.optional] for item in node.fields)
            return ["message", node.type_name, *fields]


def _text(node: ast.Constant) -> str:
    match node.value:
        case None:
            return ""
        case bool():
            return str(node.value).lower()
        case float():
            return struct.pack(">d", node.value).hex()
        case bytes():
            return node.value.hex()
        case other:
            return str(other)
