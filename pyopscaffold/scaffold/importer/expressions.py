"""Python expressions as values, written as ``ruff format`` would leave them.

A line that is too long is broken inside its brackets, one item a line; the trailing comma keeps it so. Where there is a
single item there is none, as the formatter wants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINE_LENGTH = 120
"""What a made project's pyproject.toml tells ruff."""

API = "pyopscaffold.api"


@dataclass(frozen=True)
class Name:
    """A name, and the module that it is imported from; "" for a builtin or one of the module's own."""

    text: str
    module: str = ""


@dataclass(frozen=True)
class Literal:
    """A number, a string, True, False or None, as source text."""

    text: str


@dataclass(frozen=True)
class Lines:
    """A string of several lines; where it does not fit into one, each has a literal of its own."""

    text: str


@dataclass(frozen=True)
class Bracket:
    """``head[items]``, ``head(items)`` or, without a head, a list or dict display."""

    head: Name | Use | None
    brackets: str
    items: tuple[Expr, ...]


@dataclass(frozen=True)
class Prefixed:
    """An expression after some text: ``key=``, ``"key": ``, ``lambda: ``."""

    prefix: str
    value: Expr


@dataclass(frozen=True)
class OrNone:
    """``value | None``."""

    value: Expr


@dataclass(frozen=True)
class Union:
    """``int | str``, which is never long."""

    members: tuple[Name, ...]


@dataclass(frozen=True)
class Use:
    """A class of the module by number, and what an item of it is described by; a Name once the classes have theirs."""

    number: int
    description: str | None = None


Expr: TypeAlias = Name | Literal | Lines | Bracket | Prefixed | OrNone | Union | Use

NONE = Literal("None")
ANNOTATED = Name("Annotated", "typing")


def api(name: str) -> Name:
    """Return a name of ``pyopscaffold.api``."""
    return Name(name, API)


def call(head: Name, *items: Expr, **keywords: Expr) -> Bracket:
    """Return a call."""
    return Bracket(head, "()", (*items, *(Prefixed(f"{name}=", value) for name, value in keywords.items())))


def subscript(head: Name, *items: Expr) -> Bracket:
    """Return ``head[items]``."""
    return Bracket(head, "[]", items)


def annotated(kind: Expr, markers: Sequence[Expr]) -> Expr:
    """Return ``Annotated[kind, markers]``, flat; only the type where there are none."""
    if not markers:
        return kind
    if isinstance(kind, Bracket) and kind.head == ANNOTATED:
        return Bracket(ANNOTATED, "[]", (*kind.items, *markers))
    return Bracket(ANNOTATED, "[]", (kind, *markers))


def with_markers(kind: Expr, markers: Sequence[Expr]) -> Expr:
    """Return a field's type with more markers, which stand inside of ``| None``."""
    return OrNone(with_markers(kind.value, markers)) if isinstance(kind, OrNone) else annotated(kind, markers)


def json_value(value: Any) -> Expr:
    """Return a JSON value as a Python expression."""
    match value:
        case str():
            return Literal(string(value))
        case dict():
            return Bracket(None, "{}", tuple(Prefixed(f"{string(key)}: ", json_value(value[key])) for key in value))
        case list() | tuple():
            return Bracket(None, "[]", tuple(map(json_value, value)))
        case _:
            return Literal(repr(value))


def string(text: str) -> str:
    """Return a literal of a string in the quotes that the formatter prefers, raw where that spares backslashes."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    if "\\" in text and text.isprintable() and quote not in text and not text.endswith("\\"):
        return f"r{quote}{text}{quote}"
    escaped = "".join(_escaped(character, quote) for character in text)
    return f"{quote}{escaped}{quote}"


def _escaped(character: str, quote: str) -> str:
    if character in ("\\", quote):
        return f"\\{character}"
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def names_in(expression: Expr) -> Iterator[Name]:
    """Yield every name, for the imports."""
    match expression:
        case Name():
            yield expression
        case Bracket(head, _, items):
            for part in (head, *items):
                if part is not None:
                    yield from names_in(part)
        case Prefixed(_, value) | OrNone(value):
            yield from names_in(value)
        case Union(members):
            yield from members


def flat(expression: Expr) -> str:
    """Return the expression in one line."""
    match expression:
        case Name(text) | Literal(text):
            return text
        case Lines(text):
            return string(text)
        case Bracket(head, brackets, items):
            return f"{flat(head) if head else ''}{brackets[0]}{', '.join(map(flat, items))}{brackets[1]}"
        case Prefixed(prefix, value):
            return prefix + flat(value)
        case OrNone(value):
            return f"{flat(value)} | None"
        case Union(members):
            return " | ".join(map(flat, members))
        case Use():
            raise AssertionError("classes have their names by now")


def width(text: str) -> int:
    """Return the columns that a line takes: East Asian characters are two wide."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(item) in "WF" else 1 for item in text)


def layout(expression: Expr, *, indent: int, before: int, after: int = 0) -> str:
    """Return the expression, broken where it does not fit.

    ``before`` and ``after`` are the columns taken on its first and last line, ``indent`` is that of its statement.
    """
    text = flat(expression)
    return text if before + width(text) + after <= LINE_LENGTH else broken(expression, indent=indent, before=before)


def broken(expression: Expr, *, indent: int, before: int) -> str:
    """Return the expression in several lines, where it has brackets to break at."""
    inner, margin = indent + 4, "\n" + " " * indent
    match expression:
        case Bracket(head, brackets, items) if items:
            comma = "," if len(items) > 1 else ""
            rows = (layout(item, indent=inner, before=inner, after=len(comma)) + comma for item in items)
            body = "".join(f"{margin}    {row}" for row in rows)
            return f"{flat(head) if head else ''}{brackets[0]}{body}{margin}{brackets[1]}"
        case Prefixed(prefix, value):
            return prefix + layout(value, indent=indent, before=before + len(prefix))
        case Lines(text) if "\n" in text.strip("\n"):
            return margin.join(map(string, text.splitlines(keepends=True)))
        case OrNone(Bracket(head, brackets, (first, *others))) if head == ANNOTATED:
            return broken(Bracket(head, brackets, (OrNone(first), *others)), indent=indent, before=before)
        case OrNone(value):
            body = flat(expression)
            if inner + width(body) > LINE_LENGTH:
                body = f"{layout(value, indent=inner, before=inner)}{margin}    | None"
            return f"({margin}    {body}{margin})"
        case _:
            return flat(expression)


def statement(name: str, annotation: Expr, default: Expr | None, *, indent: int = 4) -> str:
    """Return ``name: annotation = default`` with its indentation."""
    start = f"{' ' * indent}{name}: "
    value = "" if default is None else f" = {flat(default)}"
    if width(start) + width(flat(annotation)) + width(value) <= LINE_LENGTH:
        return start + flat(annotation) + value
    if isinstance(default, Bracket) and default.head:
        opened = f"{start}{flat(annotation)} = "
        if width(opened) + width(flat(default.head)) + 1 <= LINE_LENGTH:
            return opened + broken(default, indent=indent, before=width(opened))
    elif (
        default
        and not _is_annotated(annotation)
        and width(start) + width(flat(annotation)) + width(" = (") <= LINE_LENGTH
    ):
        margin = "\n" + " " * indent
        return f"{start}{flat(annotation)} = ({margin}    {flat(default)}{margin})"
    return start + broken(annotation, indent=indent, before=width(start)) + value


def _is_annotated(kind: Expr) -> bool:
    return (
        _is_annotated(kind.value) if isinstance(kind, OrNone) else isinstance(kind, Bracket) and kind.head == ANNOTATED
    )


def decorator(expression: Expr) -> str:
    """Return ``@expression``."""
    return "@" + layout(expression, indent=0, before=1)
