"""Whether the API server can read the JSON path of a printer column.

It takes any that starts with a dot into a CRD. Where it then can't read one, it shows neither that column nor those
after it, and says so in its own log only. What it reads but can never find, as a word without quotes, is no better.
Source: k8s.io/client-go/util/jsonpath.
"""

from __future__ import annotations

import re

_OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
_FIELD = re.compile(r"(?:\\.|[^\\ \t\r\n.,\[\]$@{}])*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9.]*")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_INDEX = re.compile(r"(?:-?[0-9]+)?(?::(?:-?[0-9]+)?)?(?::(?:-?[0-9]+)?)?|\*")
_KEY = re.compile(r"'([^']*)'")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_ESCAPES = r"\\(?:[abfnrtv\\{quote}]|[0-7]{{3}}|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}})"


class BadPath(ValueError):  # noqa: N818 - what it is about
    """The path can't be read; the text says why, with a way out."""


def check(path: str) -> None:
    """Raise BadPath unless ``path`` can be read, and may find something."""
    at, deep = 0, False
    while at < len(path):
        here = path[at]
        if path.startswith("[?(", at):
            at = _filter(path, at)
        elif path.startswith("..", at):
            if deep:
                raise BadPath("it has .. twice; write one")
            deep, at = True, at + 2
            if path[at : at + 1].isalnum() or path[at : at + 1] == "_":
                deep, at = False, _field(path, at)
            continue
        elif here in " @$":
            at += 1
            continue
        elif here == "[":
            at = _brackets(path, at)
        elif here in "\"'":
            at = _quoted(path, at)
        elif here == ".":
            at = _field(path, at + 1)
        elif here.isdigit() or here in "+-":
            at = _number(path, at)
        else:
            at = _word(path, at)
        deep = False


def _field(path: str, at: int) -> int:
    found = _FIELD.match(path, at)
    return found.end() if found else at


def _word(path: str, at: int) -> int:
    end = _field(path, at)
    word = path[at:end]
    if word in {"true", "false"}:
        return end
    if word[:1].isalnum() or word[:1] == "_":
        raise BadPath(f"{word} stands alone in it; write .{word} for a field, '{word}' for a text")
    raise BadPath(f"{path[at]!r} can't stand where it does")


def _number(path: str, at: int) -> int:
    found = _NUMBER.match(path, at)
    text = found[0] if found else ""
    if not _DECIMAL.fullmatch(text):
        raise BadPath(f"{text} is no number")
    return at + len(text)


def _quoted(path: str, at: int) -> int:
    quote, end = path[at], at
    while True:
        end = path.find(quote, end + 1)
        if end < 0:
            raise BadPath(f"a text is not closed; write {quote} behind it")
        if path[end - 1] != "\\":
            break
    text = path[at + 1 : end]
    if "\n" in text or re.fullmatch(rf"(?:[^\\{quote}]|{_ESCAPES.format(quote=quote)})*", text) is None:
        raise BadPath(f"the text {path[at : end + 1]} has a break, or an escape that Go does not know")
    return end + 1


def _brackets(path: str, at: int) -> int:
    end = path.find("]", at)
    if end < 0 or "\n" in path[at:end]:
        raise BadPath("a [ is not closed; write ] behind it")
    inside = path[at + 1 : end]
    parts = inside.split(",")
    for part in parts if len(parts) > 1 else ():
        check(f"[{part.strip(' ')}]")
    if len(parts) > 1:
        return end + 1
    if key := _KEY.fullmatch(inside):
        check(f".{key[1]}")
    elif _INDEX.fullmatch(inside) is None:
        name = inside.strip("\"' ")
        raise BadPath(f"[{inside}] is no index; write [0] or [*] for items, ['{name or 'name'}'] for a field")
    return end + 1


def _filter(path: str, at: int) -> int:
    """Read ``[?(…)]``; a text in it may hold a bracket."""
    start = at + len("[?(")
    end, quote, closed = start, "", False
    while True:
        here = path[end : end + 1]
        if here in {"", "\n"}:
            raise BadPath("a [?( is not closed; write )] behind it")
        if here in "\"'" and not quote:
            quote = here
        elif here == quote and path[end - 1] != "\\":
            closed = True
        elif here == ")" and bool(quote) == closed:
            break
        end += 1
    if path[end + 1 : end + 2] != "]":
        raise BadPath("a [?( is not closed; write ] behind its )")
    inside = path[start:end]
    comparison = _COMPARISON.fullmatch(inside)
    if comparison is None:
        check(inside)
        return end + 2
    if comparison[2] not in _OPERATORS:
        raise BadPath(f"{comparison[2]} compares nothing; write one of {', '.join(_OPERATORS)}")
    check(comparison[1])
    check(comparison[3])
    return end + 2
