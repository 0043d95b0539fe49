"""Classes as the text of a Python module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyopscaffold.scaffold.importer import markers
from pyopscaffold.scaffold.importer.classes import ClassDef
from pyopscaffold.scaffold.importer.expressions import (
    ANNOTATED,
    API,
    LINE_LENGTH,
    Bracket,
    Expr,
    Name,
    OrNone,
    Prefixed,
    Use,
    annotated,
    call,
    decorator,
    names_in,
    statement,
    with_markers,
)
from pyopscaffold.scaffold.importer.texts import docstring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyopscaffold.scaffold.importer.classes import Classes, FieldDef

_DATACLASS = Name("dataclass", "dataclasses")
_FUTURE = "from __future__ import annotations"


@dataclass(frozen=True)
class Top:
    """A class that has a name of its own: a kind, say."""

    name: str
    definition: ClassDef
    description: str = ""
    bases: tuple[Name, ...] = ()
    decorators: tuple[Expr, ...] = ()


def module(title: str, classes: Classes, *tops: Top) -> str:
    """Return the module with all classes, ``tops`` the last; ``title`` is its docstring, in one line."""
    return _Writer(classes, tops).module(title)


class _Writer:
    def __init__(self, classes: Classes, tops: Sequence[Top]) -> None:
        self._classes = classes
        self._tops = tops
        self._names = classes.names(top.name for top in tops)
        self._docs = {number: classes.description(number) for number in self._names}
        self._docs = {number: text for number, text in self._docs.items() if docstring(text)}
        self._imports: set[Name] = {_DATACLASS}

    def module(self, title: str) -> str:
        blocks = [
            *(
                self._class(Top(self._names[number], item, self._docs.get(number, "")))
                for number, item in self._numbered()
            ),
            *map(self._class, self._tops),
        ]
        parts = [f'"""{title}"""\n\n{_FUTURE}\n\n{self._import_lines()}', *blocks]
        text = "\n\n\n".join(parts) + "\n"
        # Who looks for confusable characters would find fault with other people's words.
        return text if text.isascii() else f"# ruff: noqa: RUF001, RUF002, RUF100\n{text}"

    def _numbered(self) -> Iterator[tuple[int, ClassDef]]:
        return ((number, self._classes.found[number]) for number in sorted(self._names))

    def _class(self, top: Top) -> str:
        lines = [self._decorator(item) for item in (*top.decorators, *top.definition.decorators)]
        text = docstring(top.description)
        if top.description and text is None:
            lines.append(self._decorator(call(Name("mark", API), markers.doc(top.description))))
        lines.append("@dataclass(kw_only=True)")
        bases = f"({', '.join(base.text for base in top.bases)})" if top.bases else ""
        self._imports.update(top.bases)
        lines.append(f"class {top.name}{bases}:")
        body = [*([text] if text else []), *self._fields(top.definition.fields)]
        return "\n".join(lines) + "\n" + ("\n\n".join(body) if body else "    pass")

    def _fields(self, fields: Iterable[FieldDef]) -> Iterator[str]:
        """Yield the fields in blocks, between which a line is empty: one has a docstring at its end, or none at all."""
        run: list[str] = []
        for item in fields:
            line, text = self._field(item)
            run.append(line)
            if text:
                yield "\n".join((*run, text))
                run = []
        if run:
            yield "\n".join(run)

    def _field(self, item: FieldDef) -> tuple[str, str | None]:
        kind, default = self._named(item.type), None if item.default is None else self._named(item.default)
        description = item.description
        if item.use is not None and description == self._docs.get(item.use, ""):
            description = ""
        text = docstring(description)
        if description and text is None:
            kind = with_markers(kind, [markers.doc(description)])
        for part in (kind, default):
            self._imports.update(names_in(part) if part else ())
        return statement(item.name, kind, default), text

    def _decorator(self, expression: Expr) -> str:
        self._imports.update(names_in(expression))
        return decorator(expression)

    def _named(self, expression: Expr) -> Expr:
        """Replace classes by their names, with the description of an item where its class does not say it."""
        match expression:
            case Use(number, description):
                name = Name(self._names[number])
                if description is None or description == self._docs.get(number, ""):
                    return name
                return annotated(name, [markers.doc(description)])
            case Bracket(head, brackets, items):
                return _flattened(Bracket(head, brackets, tuple(map(self._named, items))))
            case Prefixed(prefix, value):
                return Prefixed(prefix, self._named(value))
            case OrNone(value):
                return OrNone(self._named(value))
            case _:
                return expression

    def _import_lines(self) -> str:
        modules: dict[str, set[str]] = {}
        for name in self._imports:
            if name.module:
                modules.setdefault(name.module, set()).add(name.text)
        standard = [_import(module, modules[module]) for module in sorted(modules) if module != API]
        ours = [_import(API, modules[API])] if API in modules else []
        return "\n\n".join("\n".join(group) for group in (standard, ours) if group)


def _flattened(bracket: Bracket) -> Expr:
    """Put the markers of ``Annotated[Annotated[X, a], b]`` into one."""
    return annotated(bracket.items[0], bracket.items[1:]) if bracket.head == ANNOTATED else bracket


def _import(module: str, names: set[str]) -> str:
    """Write an import as ruff sorts it: constants, classes, then functions."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")"])
