"""From tokens to a tree: the grammar of cel-go 0.29 (parser/gen/CEL.g4) and what its visitor refuses.

The parser descends by generators that yield where a whole expression stands within another one, and a loop runs the
generators: nesting costs no stack of Python's. The methods that may meet an inner expression are such generators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from pyopscaffold.cel import literals, macros
from pyopscaffold.cel.ast import (
    Call,
    Constant,
    ConstantKind,
    Element,
    Entry,
    Expression,
    FieldValue,
    Has,
    Ident,
    ListLiteral,
    Macro,
    MapLiteral,
    MessageLiteral,
    Position,
    Select,
    SyntaxFault,
    children,
)
from pyopscaffold.cel.lexer import Source, Token
from pyopscaffold.kube.celnames import KEYWORDS, RESERVED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    _T = TypeVar("_T")
    _Steps = Generator[None, Any, _T]  # yields to have an expression parsed, and is sent it

SIZE_LIMIT: Final = 100_000
"""Characters of an expression."""

DEPTH_LIMIT: Final = 250
"""Of rules of the grammar within themselves, and of operators and members in the tree."""

_RELATIONS: Final = {sign: f"_{sign}_" for sign in ("<", "<=", ">=", ">", "==", "!=")} | {"in": "@in"}
_SUMS: Final = {"+": "_+_", "-": "_-_"}
_PRODUCTS: Final = {"*": "_*_", "/": "_/_", "%": "_%_"}
_UNARY: Final = {"!": "!_", "-": "-_"}
_DEEPENING: Final = {
    *(function for table in (_RELATIONS, _SUMS, _PRODUCTS) for function in table.values()),
    *("_?_:_", "_[_]", "_[?_]", "_?._"),
}
_CONSTANTS: Final[Mapping[str, tuple[ConstantKind, Callable[[str], Any]]]] = {
    "int": ("int", literals.read_int),
    "uint": ("uint", literals.read_uint),
    "double": ("double", literals.read_double),
    "string": ("string", literals.read_string),
    "bytes": ("bytes", literals.read_bytes),
    "true": ("bool", lambda _: True),
    "false": ("bool", lambda _: False),
    "null": ("null", lambda _: None),
}
_SLIPS: Final = {"and": "&&", "or": "||"}


def parse(text: str) -> Expression:
    """Return the tree of an expression.

    Raises:
        SyntaxFault: the API server would say that it does not parse, or that a macro has wrong arguments.

    """
    source = Source(text)
    if len(text) > SIZE_LIMIT:
        raise SyntaxFault(f"the expression has more than {SIZE_LIMIT} characters", source.position(SIZE_LIMIT))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SyntaxFault("half a character of UTF-16 can't be", source.position(error.start)) from error
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = source.tokens()
        self._index = 0
        self._depth = {"expression": 0, "relation": 0, "sum": 0}

    def parse(self) -> Expression:
        root = self._run()
        self._expect("end", "the end, or an operator,")
        self._check_depth(root)
        return root

    def _run(self) -> Expression:
        waiting = [self._expression()]
        inner: Expression | None = None
        while True:
            try:
                waiting[-1].send(inner)
            except StopIteration as done:
                waiting.pop()
                inner = done.value
                if not waiting:
                    return done.value  # type: ignore[no-any-return] # what the generators return
            else:
                waiting.append(self._expression())
                inner = None

    def _expression(self) -> _Steps[Expression]:
        self._enter(*self._depth)
        node = yield from self._either()
        if sign := self._accept("?"):
            yes = yield from self._either()
            self._expect(":", "the : of a condition ? a : b")
            no = yield
            node = Call("_?_:_", (node, yes, no), position=self._position(sign))
        self._leave(*self._depth)
        return node

    def _either(self) -> _Steps[Expression]:
        return self._logic("||", self._both)

    def _both(self) -> _Steps[Expression]:
        return self._logic("&&", self._relation)

    def _logic(self, sign: str, operand: Callable[[], _Steps[Expression]]) -> _Steps[Expression]:
        first = yield from operand()
        terms, token = [first], self._next
        while self._accept(sign):
            term = yield from operand()
            terms.append(term)
        return first if len(terms) == 1 else Call(f"_{sign}_", tuple(terms), position=self._position(token))

    def _relation(self) -> _Steps[Expression]:
        return self._binary(_RELATIONS, self._sum, "relation")

    def _sum(self) -> _Steps[Expression]:
        return self._binary(_SUMS, self._product, "sum")

    def _product(self) -> _Steps[Expression]:
        return self._binary(_PRODUCTS, self._unary, "sum")

    def _binary(
        self, functions: Mapping[str, str], operand: Callable[[], _Steps[Expression]], rule: str
    ) -> _Steps[Expression]:
        left = yield from operand()
        while sign := self._accept(*functions):
            self._enter(rule)
            right = yield from operand()
            self._leave(rule)
            left = Call(functions[sign.kind], (left, right), position=self._position(sign))
        return left

    def _unary(self) -> _Steps[Expression]:
        first = self._next
        if first.kind not in _UNARY or self._at_negative_number():
            return (yield from self._member())
        count = 0
        while self._accept(first.kind):
            count += 1
        operand = yield from self._member()
        if count % 2 == 0:
            return operand
        return Call(_UNARY[first.kind], (operand,), position=self._position(first))

    def _member(self) -> _Steps[Expression]:
        node = yield from self._primary()
        while sign := self._accept(".", "["):
            if sign.kind == "[":
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = yield
                self._expect("]")
                node = Call(function, (node, index), position=self._position(sign))
            elif self._accept("?"):
                name = self._next
                field = Constant("string", self._field(), position=self._position(name))
                node = Call("_?._", (node, field), position=self._position(sign))
            elif self._next.kind == "name" and self._tokens[self._index + 1].kind == "(":
                name = self._take()
                arguments = yield from self._arguments()
                node = macros.expand(Call(name.text, arguments, node, position=self._position(name)))
            else:
                name = self._next
                node = Select(node, self._field(), position=self._position(name))
        return node

    def _field(self) -> str:
        token = self._next
        if token.kind in KEYWORDS:
            raise self._fault(f"{token.text} is a word of CEL, a field of that name goes by __{token.text}__", token)
        self._accept("quoted") or self._expect("name", "the name of a field")
        return token.text.strip("`")

    def _primary(self) -> _Steps[Expression]:
        match self._next.kind:
            case "(":
                opening = self._take()
                inner: Expression = yield
                self._expect(")", f"the ) of the ( at {self._position(opening)}")
                return inner
            case "[":
                return (yield from self._list())
            case "{":
                return (yield from self._map())
            case "name" | ".":
                return (yield from self._named())
            case _:
                return self._constant()

    def _named(self) -> _Steps[Expression]:
        start = self._next
        dot = "." if self._accept(".") else ""
        name = self._expect("name", "a name")
        if self._starts_message():
            return (yield from self._message(start, dot + name.text))
        if name.text in RESERVED:
            raise self._fault(f"{name.text} is a reserved word, no name of a variable or function", name)
        if self._next.kind != "(":
            return Ident(dot + name.text, position=self._position(start))
        arguments = yield from self._arguments()
        return macros.expand(Call(dot + name.text, arguments, position=self._position(start)))

    def _starts_message(self) -> bool:
        """Whether names with dots between, the first of which is taken, lead to a brace."""
        ahead = self._index
        while self._tokens[ahead].kind == "." and self._tokens[ahead + 1].kind == "name":
            ahead += 2
        return self._tokens[ahead].kind == "{"

    def _arguments(self) -> _Steps[tuple[Expression, ...]]:
        opening = self._take()
        found: list[Expression] = []
        while (not found and self._next.kind != ")") or self._accept(","):
            argument = yield
            found.append(argument)
        self._expect(")", f"the ) of the ( at {self._position(opening)}")
        return tuple(found)

    def _list(self) -> _Steps[Expression]:
        opening = self._take()
        elements: list[Element] = []
        while self._goes_on("]", first=not elements):
            optional = self._accept("?") is not None
            value = yield
            elements.append(Element(value, optional))
        return ListLiteral(tuple(elements), position=self._position(opening))

    def _map(self) -> _Steps[Expression]:
        opening = self._take()
        entries: list[Entry] = []
        while self._goes_on("}", first=not entries):
            optional = self._accept("?") is not None
            key = yield
            self._expect(":", "the : of a map's entry")
            value = yield
            entries.append(Entry(key, value, optional))
        return MapLiteral(tuple(entries), position=self._position(opening))

    def _message(self, start: Token, type_name: str) -> _Steps[Expression]:
        while self._accept("."):
            type_name += f".{self._take().text}"
        self._take()
        fields: list[FieldValue] = []
        while self._goes_on("}", first=not fields):
            optional = self._accept("?") is not None
            name = self._field()
            self._expect(":", "the : of a message's field")
            value = yield
            fields.append(FieldValue(name, value, optional))
        return MessageLiteral(type_name, tuple(fields), position=self._position(start))

    def _goes_on(self, closing: str, *, first: bool) -> bool:
        """Take a comma or the closing sign, and say whether another item follows; a comma may stand last, or alone."""
        comma = self._accept(",")
        if self._accept(closing):
            return False
        if (first and comma) or not (first or comma):
            self._expect(closing)
        return True

    def _constant(self) -> Constant:
        sign = self._take() if self._at_negative_number() else None
        token = self._take()
        position, text = self._position(sign or token), ("-" if sign else "") + token.text
        if token.kind not in _CONSTANTS:
            raise self._unexpected("an expression", token)
        kind, value = _CONSTANTS[token.kind]
        try:
            return Constant(kind, value(text), position=position)
        except ValueError as error:
            raise SyntaxFault(str(error), position) from error

    def _at_negative_number(self) -> bool:
        return self._next.kind == "-" and self._tokens[self._index + 1].kind in {"int", "double"}

    # Tokens.

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _take(self) -> Token:
        token = self._next
        self._index += token.kind != "end"
        return token

    def _accept(self, *kinds: str) -> Token | None:
        return self._take() if self._next.kind in kinds else None

    def _expect(self, kind: str, what: str = "") -> Token:
        if self._next.kind != kind:
            raise self._unexpected(what or kind, self._next)
        return self._take()

    # Faults.

    def _unexpected(self, expected: str, token: Token) -> SyntaxFault:
        found = token.text or "the end of the expression"
        hint = f", write {_SLIPS[found]}" if found in _SLIPS else ""
        return self._fault(f"expected {expected} but found {found}{hint}", token)

    def _fault(self, message: str, token: Token) -> SyntaxFault:
        return SyntaxFault(message, self._position(token))

    def _position(self, token: Token) -> Position:
        return self._source.position(token.offset)

    def _enter(self, *rules: str) -> None:
        """Count rules of the grammar that are being parsed, as cel-go's listener does."""
        for rule in rules:
            self._depth[rule] += 1
            if self._depth[rule] > DEPTH_LIMIT:
                raise self._fault(f"the expression nests more than {DEPTH_LIMIT} levels deep", self._next)

    def _leave(self, *rules: str) -> None:
        for rule in rules:
            self._depth[rule] -= 1

    def _check_depth(self, root: Expression) -> None:
        """Refuse what cel-go's visitor does: too many operators or members below each other."""
        pending = [(root, 0)]
        while pending:
            node, depth = pending.pop()
            match node:
                case Select() | Has() | Macro():
                    depth += 1
                case Call():
                    depth += node.target is not None or node.function in _DEEPENING
            if depth > DEPTH_LIMIT:
                raise SyntaxFault(f"more than {DEPTH_LIMIT} operators and members build on each other", node.position)
            pending.extend((child, depth) for child in children(node))
