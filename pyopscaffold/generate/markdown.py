"""Markdown that renderers agree on: GitHub's, CommonMark and Python-Markdown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A span ends within its paragraph.
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r" {0,3}([-*+]|[0-9]{1,9}[.)])( |$)")
_STRUCTURE = re.compile(r"( {0,3})(#{1,6}(?= |$)|=+ *$|-{2,} *$)")


def code(text: str) -> str:
    """Return ``text`` as a code span, on one line."""
    flat = " ".join(text.split("\n"))
    ticks = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") or not flat.strip() else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def value(item: Any) -> str:
    """Return a JSON value as a code span."""
    return code(json.dumps(item, ensure_ascii=False))


def anchor(name: str) -> str:
    """Return the place that a link leads to; renderers make different ones of headings."""
    return f'<a id="{name}"></a>'


def anchor_name(text: str) -> str:
    """Return ``text`` as a part of an anchor, which a tag and a link can hold: a JSON name may be anything."""
    return re.sub(r"[^\w.-]", lambda found: f"_{ord(found[0]):x}", text)


def link(text: str, url: str) -> str:
    """Return a link; neither the author's text nor the address ends it early."""
    target = re.sub(r"[\s<>]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
    target = f"<{target}>" if set("()") & set(target) else target
    shown = re.sub(r"([][])", r"\\\1", prose(text))
    return f"[{shown}]({target})"


def prose(text: str) -> str:
    """Return an author's text, which may be Markdown, so that it can't break the page around it.

    Code stays as it is, tags become text, and what would be a heading does not.
    """
    return "\n".join(_blocks(text.expandtabs(4).splitlines()))


def cell(text: str) -> str:
    """Return text, maybe Markdown, as a cell of a table: in one line, without a bar that would end it."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table; cells are Markdown. A column without a title is left out where it is empty."""
    titles, *lines = ([cell(text) for text in row] for row in (head, *rows))
    kept = [number for number, title in enumerate(titles) if title or any(line[number] for line in lines)]
    shown = ([line[number] for number in kept] for line in (titles, ["---"] * len(titles), *lines))
    return "".join(f"| {' | '.join(line)} |\n" for line in shown)


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield code blocks as they stand, and what lies between them made harmless."""
    waiting: list[str] = []
    fence, listed = "", False
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        indented = line.startswith("    ") and (not number or not lines[number - 1].strip() or not waiting)
        if not fence and not opened and (listed or not indented):
            waiting.append(line)
            listed = bool(_LIST_ITEM.match(line)) or (listed and (not line.strip() or line.startswith(" ")))
            continue
        if waiting:
            yield _harmless("\n".join(waiting))
            waiting = []
        yield line
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1].startswith(fence) and not line[opened.end() :].strip():
            fence = ""
    if waiting:
        yield _harmless("\n".join(waiting))
    if fence:
        yield fence


def _harmless(text: str) -> str:
    found, end = [], 0
    for span in _CODE_SPAN.finditer(text):
        found += [_escaped(text[end : span.start()]), span[0]]
        end = span.end()
    plain = "".join([*found, _escaped(text[end:])])
    return "\n".join(_STRUCTURE.sub(r"\1\\\2", line) for line in plain.split("\n"))


def _escaped(text: str) -> str:
    return text.replace("<", "&lt;")
