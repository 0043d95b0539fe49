"""Bounds of a value in two states of its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_UPPER = {
    "maximum": "at most {}",
    "maxLength": "at most {} characters long",
    "maxItems": "at most {} items long",
    "maxProperties": "of at most {} keys",
}
_LOWER = {
    "minimum": "at least {}",
    "minLength": "at least {} characters long",
    "minItems": "at least {} items long",
    "minProperties": "of at least {} keys",
}
_SHOWN = 60
_EXCLUSIVE = {"maximum": "exclusiveMaximum", "minimum": "exclusiveMinimum"}


class Bound(NamedTuple):
    """A bound that changed; ``tightened`` where a value that met the old one need not meet the new one."""

    keyword: str
    tightened: bool
    message: str


def bounds(was: dict[str, Any], now: dict[str, Any]) -> Iterator[Bound]:
    """Yield the bounds that differ."""
    for words, sign in ((_UPPER, 1), (_LOWER, -1)):
        for keyword, word in words.items():
            yield from _bound(was, now, keyword, word, sign)
    yield from _pattern(was, now)
    yield from _multiple(was, now)


def _bound(was: dict[str, Any], now: dict[str, Any], keyword: str, word: str, sign: int) -> Iterator[Bound]:
    old, new = (_limit(schema, keyword, sign) for schema in (was, now))
    if old == new:
        return
    if new is None:
        yield Bound(keyword, tightened=False, message=f"need not be {_worded(was, keyword, word)} any more")
        return
    tightened = old is None or new < old
    more = "" if tightened else ", not only " + _worded(was, keyword, word)
    yield Bound(keyword, tightened, f"{'must' if tightened else 'may'} be {_worded(now, keyword, word)} now{more}")


def _limit(schema: dict[str, Any], keyword: str, sign: int) -> tuple[float, int] | None:
    """Return the bound as a pair that is smaller the tighter it is; a minimum of no length is none."""
    value = schema.get(keyword)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if sign < 0 and keyword != "minimum" and value <= 0:
        return None
    exclusive = keyword in _EXCLUSIVE and schema.get(_EXCLUSIVE[keyword]) is True
    return value * sign, -int(exclusive)


def _worded(schema: dict[str, Any], keyword: str, word: str) -> str:
    if keyword in _EXCLUSIVE and schema.get(_EXCLUSIVE[keyword]) is True:
        return f"{'less' if keyword == 'maximum' else 'more'} than {schema[keyword]}"
    return word.format(schema[keyword])


def _pattern(was: dict[str, Any], now: dict[str, Any]) -> Iterator[Bound]:
    old, new = was.get("pattern"), now.get("pattern")
    if old == new:
        return
    if not new:
        yield Bound("pattern", tightened=False, message=f"need not match {cut(str(old))} any more")
    else:
        more = f", not {cut(str(old))}" if old else ""
        yield Bound("pattern", tightened=True, message=f"must match {cut(str(new))} now{more}")


def cut(shown: str) -> str:
    """Shorten what a message shows of a schema, the last character an ellipsis then."""
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _multiple(was: dict[str, Any], now: dict[str, Any]) -> Iterator[Bound]:
    old, new = was.get("multipleOf"), now.get("multipleOf")
    if old == new:
        return
    if new is None:
        yield Bound("multipleOf", tightened=False, message=f"need not be a multiple of {old} any more")
        return
    numbers = isinstance(old, int | float) and isinstance(new, int | float) and new > 0
    yield Bound("multipleOf", not (numbers and old % new == 0), f"must be a multiple of {new} now")
