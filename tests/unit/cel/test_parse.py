"""What expressions parse to; tests/oracle holds trees and verdicts against cel-go's."""

from __future__ import annotations

import pytest

from pyopscaffold import cel
from pyopscaffold.cel import ast


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an expression but found the end of the expression at 1:1"),
        ("(self.a", "expected the ) of the ( at 1:1 but found the end of the expression at 1:8"),
        ("self.all(x, x > 1 && )", "expected an expression but found ) at 1:22"),
        ("self.a\n  self.b", "expected the end, or an operator, but found self at 2:3"),
        ("self.a and self.b", "expected the end, or an operator, but found and, write && at 1:8"),
        ("self.a = 1", "= is no operator, write == at 1:8"),
        ("self.a | self.b", "| is no operator, write || at 1:8"),
        ("self.a ? 1", "expected the : of a condition ? a : b but found the end of the expression at 1:11"),
        ("self.é", "'é' has no meaning in CEL at 1:6"),
        ("'abc", "the string is not closed at 1:1"),
        (
            r"self.matches('^\d+$')",
            r"\d is no escape of CEL, write \\d or a raw string such as r'…', at 1:14",
        ),
        (r"'\uD800'", r"\uD800 is no character of Unicode at 1:1"),
        (r"b'\u0041'", r"\u0041 names a character, where bytes are written: write \xNN at 1:1"),
        ("9223372036854775808", "9223372036854775808 does not fit into 64 bits at 1:1"),
        ("1e999", "1e999 is too large for a double at 1:1"),
        ("self.in == 1", "in is a word of CEL, a field of that name goes by __in__ at 1:6"),
        ("namespace == ''", "namespace is a reserved word, no name of a variable or function at 1:1"),
        ("has(self)", "has() takes a field such as has(self.name) at 1:5"),
        ("self.all(x.y, true)", "all() starts with the name of a variable, as in all(x, …), found none at 1:10"),
        ("self.all(x, x, true)", "all() has the variable x twice at 1:13"),
        ("self.all(__result__, true)", "__result__ is CEL's own name, choose another at 1:10"),
        ("'a'.sortBy(x, x)", "sortBy is for lists at 1:1"),
        (
            "self.`a+b`",
            "a name in backticks has letters, digits, spaces and _ . - / only, and ends with a backtick at 1:6",
        ),
        ("a" * 100_001, "the expression has more than 100000 characters at 1:100001"),
        ("(" * 10_000 + "1" + ")" * 10_000, "the expression nests more than 250 levels deep at 1:251"),
        ("a" + ".b" * 251, "more than 250 operators and members build on each other at 1:3"),
        ("'\udc00'", "half a character of UTF-16 can't be at 1:2"),
    ],
)
def test_mistakes_are_placed_and_explained(text: str, message: str) -> None:
    """A mistake is told with line, column and, where one is likely, the way out."""
    with pytest.raises(cel.SyntaxFault) as caught:
        cel.parse(text)
    assert str(caught.value) == message


def test_position_of_a_mistake() -> None:
    """Lines and columns count from 1, the offset from 0."""
    with pytest.raises(cel.SyntaxFault) as caught:
        cel.parse("self.a &&\n  )")
    assert caught.value.position == cel.Position(offset=12, line=2, column=3)


def test_nodes_stand_where_their_name_or_sign_does() -> None:
    """A node's position is that of its operator, field or function, not of its first character."""
    text = "self.spec.replicas.size() <= [1, 2][?0].orValue(3)"
    places = {text[node.position.offset :][:4] for node in cel.walk(cel.parse(text))}
    assert places == {"self", "spec", "repl", "size", "<= [", "[1, ", "1, 2", "2][?", "[?0]", "0].o", "orVa", "3)"}


def test_trees_are_equal_wherever_they_stand() -> None:
    """Space, comments, needless parentheses and kinds of quotes make no difference; kinds of numbers do."""
    assert cel.parse("a+'b'") == cel.parse('( a ) // one\n + "b"')
    assert len({cel.parse(text) for text in ("1", "1u", "1.0", "true", "'1'", "b'1'")}) == 6


def test_macros_keep_their_variables() -> None:
    """A macro is no call: what it binds and what it works on are told apart."""
    match cel.parse("self.l.map(x, x > 0, x * 2)"):
        case ast.Macro("map", ast.Select(), (ast.Ident("x"),), (ast.Call("_>_"), ast.Call("_*_"))):
            pass
        case other:
            pytest.fail(f"{other} is no map of two arguments")
    assert cel.parse("has(self.a)") == ast.Has(cel.parse("self"), "a", position=cel.Position(0, 1, 1))


def test_walk_visits_every_node_in_order() -> None:
    """Parents come before children, from left to right, and bound variables are not among them."""
    tree = cel.parse("a.all(b, c ? {d: [e]} : T{f: g[h]}) || !i")
    assert list(cel.variables(tree)) == list("acdeghi")


def test_names_of_fields() -> None:
    """Reserved words and signs in a field's name are spelled as the API server declares them."""
    names = ["replicas", "namespace", "a-b/c.d", "a__b", "in"]
    spelled = ["replicas", "__namespace__", "a__dash__b__slash__c__dot__d", "a__underscores__b", "__in__"]
    assert [cel.escape_field(name) for name in names] == spelled
