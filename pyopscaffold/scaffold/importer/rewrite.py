"""Changes of fields in Python source; comments and formatting stay, but for what a wish is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor
from libcst.metadata import MetadataWrapper, PositionProvider

from pyopscaffold.scaffold.importer.expressions import (
    ANNOTATED,
    API,
    LINE_LENGTH,
    Bracket,
    Expr,
    Literal,
    Name,
    api,
    broken,
    call,
    flat,
    names_in,
    statement,
    string,
    width,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyopscaffold.scaffold.importer.classes import FieldDef
    from pyopscaffold.scaffold.importer.edits import Wish


def rewritten(text: str, wishes: Mapping[int, Wish]) -> str | None:
    """Return a module after its wishes, by line; None where one of them can't be met."""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except (cst.ParserSyntaxError, UnicodeEncodeError):  # newer than LibCST, or not in UTF-8
        return None
    visitor = _Rewriter(wishes)
    module = wrapper.visit(visitor)
    if visitor.left:
        return None
    context = CodemodContext()
    has_all = any(
        isinstance(line, cst.ImportFrom) and isinstance(line.names, cst.ImportStar) and _code(line.module) == API
        for part in module.body
        if isinstance(part, cst.SimpleStatementLine)
        for line in part.body
    )
    for name in visitor.names:
        if name.module and not (has_all and name.module == API):
            AddImportsVisitor.add_needed_import(context, name.module, name.text)
    return AddImportsVisitor(context).transform_module(module).code


class _Rewriter(cst.CSTTransformer):
    """Meets wishes; ``left`` are the lines whose wish was not, ``names`` those that need an import."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, wishes: Mapping[int, Wish]) -> None:
        super().__init__()
        self._wishes = wishes
        self.left = set(wishes)
        self.names: list[Name] = []

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:  # noqa: N802 - LibCST's
        """Change a class's fields."""
        body = updated_node.body
        if not isinstance(body, cst.IndentedBlock):
            return updated_node
        lines = [self._line(part) for part in original_node.body.body]
        parts: list[cst.BaseStatement] = []
        waiting: Wish | None = None
        for line, part in zip(lines, body.body, strict=True):
            if waiting:
                parts += self._described(waiting, part)
                waiting = None
            else:
                parts.append(part)
            wish = self._wishes.get(line)
            if wish and isinstance(part, cst.SimpleStatementLine) and isinstance(part.body[0], cst.AnnAssign):
                known = _heads(part.body[0].annotation.annotation)
                if not wish.replaced <= known:
                    continue
                self.left.discard(line)
                parts[-1] = self._field(parts[-1], wish)
                waiting = wish if wish.doc and "Doc" not in known else None
        if waiting:
            parts += self._described(waiting, None)
        own = self._line(original_node.name)
        wish = self._wishes.get(own)
        if wish and (wish.fields or wish.status):
            self.left.discard(own)
            for item in wish.fields.values():
                parts += self._new(item)
        decorators = updated_node.decorators
        if wish and wish.status:
            decorators = [_without_keyword(item, "status_subresource") for item in decorators]
        return updated_node.with_changes(body=body.with_changes(body=parts), decorators=decorators)

    def _line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).start.line)

    def _field(self, part: cst.BaseStatement, wish: Wish) -> cst.BaseStatement:
        assert isinstance(part, cst.SimpleStatementLine)  # noqa: S101 - it was looked at
        found = part.body[0]
        assert isinstance(found, cst.AnnAssign)  # noqa: S101
        kind, value = found.annotation.annotation, found.value
        if wish.required:
            kind, value = _not_none(kind), None
        if wish.default:
            kind, value = _without(kind, "Default"), cst.parse_expression(flat(wish.default))
        if wish.doc and "Doc" in _heads(kind):
            kind = self._marked(kind, [call(api("Doc"), Literal(string(wish.doc[1])))])
        if wish.markers:
            kind = self._marked(kind, wish.markers)
        annotation = found.annotation.with_changes(annotation=kind)
        made = found.with_changes(annotation=annotation, value=value, equal=cst.MaybeSentinel.DEFAULT)
        if value is found.value:
            made = made.with_changes(equal=found.equal)
        if "\n" not in _code(made) and width(_code(made)) + 4 > LINE_LENGTH:
            made = made.with_changes(annotation=annotation.with_changes(annotation=_broken(kind, _code(found.target))))
        return part.with_changes(body=[made, *part.body[1:]])

    def _marked(self, kind: cst.BaseExpression, markers: Sequence[Expr]) -> cst.BaseExpression:
        """Add markers to a type, in the place of others of the same name."""
        if isinstance(kind, cst.BinaryOperation) and _or_none(kind):
            return kind.with_changes(left=self._marked(kind.left, markers))
        if not (isinstance(kind, cst.Subscript) and _is_annotated(kind)):
            self.names += [ANNOTATED, *(name for marker in markers for name in names_in(marker))]
            return cst.parse_expression(f"Annotated[{', '.join([_code(kind), *map(flat, markers)])}]")
        elements = list(kind.slice)
        for marker in markers:
            made = cst.parse_expression(flat(marker))
            name = flat(marker).partition("(")[0]
            at = next((at for at, element in enumerate(elements) if _head(element) == name), None)
            if at is not None:
                found = _call(elements[at])
                if found and isinstance(made, cst.Call):
                    made = made.with_changes(func=found.func)  # by the name that the module has for it
                elements[at] = elements[at].with_changes(slice=cst.Index(made))
                continue
            self.names += names_in(marker)
            last = elements[-1]
            between = elements[0].comma if len(elements) > 1 else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            elements[-1:] = [
                last.with_changes(comma=between),
                cst.SubscriptElement(cst.Index(made), comma=last.comma),
            ]
        return kind.with_changes(slice=elements)

    def _described(self, wish: Wish, after: cst.BaseStatement | None) -> list[cst.BaseStatement]:
        """Put a description before what follows a field, or change the one that follows it."""
        before, text = wish.doc or ("", "")
        if isinstance(after, cst.SimpleStatementLine) and isinstance(after.body[0], cst.Expr):
            found: cst.BaseExpression = after.body[0].value
            if isinstance(found, cst.SimpleString) and before and text.endswith(before):
                start = found.prefix + found.quote
                found = found.with_changes(value=start + text[: -len(before)] + found.value[len(start) :].lstrip())
            elif isinstance(found, cst.SimpleString | cst.ConcatenatedString):
                found = _docstring(text)
            else:
                return [_docstring_line(text), after]
            return [after.with_changes(body=[after.body[0].with_changes(value=found), *after.body[1:]])]
        return [_docstring_line(text), *([after] if after else [])]

    def _new(self, item: FieldDef) -> list[cst.BaseStatement]:
        for part in (item.type, item.default):
            self.names += names_in(part) if part else ()
        line = statement(item.name, item.type, item.default).lstrip()
        made = cst.parse_statement(line)
        assert isinstance(made, cst.SimpleStatementLine)  # noqa: S101 - a statement is one
        spaced = made.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        return [spaced, _docstring_line(item.description)] if item.description else [spaced]


def _code(node: cst.CSTNode | None) -> str:
    return cst.Module([]).code_for_node(node) if node else ""


def _docstring(text: str) -> cst.SimpleString:
    is_plain = '"' not in text and "\\" not in text and text.isprintable()
    return cst.SimpleString(f'"""{text}"""' if is_plain else string(text))


def _docstring_line(text: str) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Expr(_docstring(text))])


def _is_annotated(kind: cst.BaseExpression) -> bool:
    return isinstance(kind, cst.Subscript) and _code(kind.value).rpartition(".")[2] == ANNOTATED.text


def _or_none(kind: cst.BaseExpression) -> bool:
    return isinstance(kind, cst.BinaryOperation) and _code(kind.right) == "None"


def _not_none(kind: cst.BaseExpression) -> cst.BaseExpression:
    return kind.left if isinstance(kind, cst.BinaryOperation) and _or_none(kind) else kind


def _heads(kind: cst.BaseExpression) -> set[str]:
    """Return the names of a type's markers."""
    if isinstance(kind, cst.BinaryOperation) and _or_none(kind):
        return _heads(kind.left)
    return set(map(_head, kind.slice)) if isinstance(kind, cst.Subscript) and _is_annotated(kind) else set()


def _head(element: cst.SubscriptElement) -> str:
    """Return the name of the marker that is called."""
    found = _call(element)
    return _code(found.func).rpartition(".")[2] if found else ""


def _call(element: cst.SubscriptElement) -> cst.Call | None:
    value = element.slice.value if isinstance(element.slice, cst.Index) else None
    return value if isinstance(value, cst.Call) else None


def _without(kind: cst.BaseExpression, name: str) -> cst.BaseExpression:
    """Take a marker away, and ``Annotated`` where it was the only one."""
    if isinstance(kind, cst.BinaryOperation) and _or_none(kind):
        return kind.with_changes(left=_without(kind.left, name))
    if not (isinstance(kind, cst.Subscript) and _is_annotated(kind)):
        return kind
    left = [element for element in kind.slice if _head(element) != name]
    if len(left) == 1 and isinstance(left[0].slice, cst.Index):
        return left[0].slice.value
    return kind.with_changes(slice=[*left[:-1], left[-1].with_changes(comma=kind.slice[-1].comma)])


def _broken(kind: cst.BaseExpression, target: str) -> cst.BaseExpression:
    """Have each item of a line that is too long stand in its own."""
    inner = kind.left if isinstance(kind, cst.BinaryOperation) else kind
    if not (isinstance(inner, cst.Subscript) and _is_annotated(inner)):
        return kind
    items = tuple(Literal(_code(element.slice)) for element in inner.slice)
    text = broken(Bracket(Name(_code(inner.value)), "[]", items), indent=4, before=4 + len(target) + 2)
    made = cst.parse_expression(text.replace("\n    ", "\n"))  # LibCST adds the indentation of the class
    return kind.with_changes(left=made) if isinstance(kind, cst.BinaryOperation) else made


def _without_keyword(decorator: cst.Decorator, name: str) -> cst.Decorator:
    """Take an argument out of a decorator."""
    call = decorator.decorator
    if not isinstance(call, cst.Call):
        return decorator
    left = [item for item in call.args if not (item.keyword and item.keyword.value == name)]
    if len(left) == len(call.args):
        return decorator
    if left:
        left[-1] = left[-1].with_changes(comma=call.args[-1].comma)
    return decorator.with_changes(decorator=call.with_changes(args=left))
