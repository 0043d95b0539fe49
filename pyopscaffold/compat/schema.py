"""Two states of a structural schema, node by node.

What a change means follows from what the API server does with stored objects: it validates them when they are written
again, and drops on reading what the schema has no place for. Grades are those of crdify, but for what it is known to
get wrong: a list that says that it is atomic, or a map that it is granular, is no change, since these are the defaults.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyopscaffold.compat.bounds import bounds, cut
from pyopscaffold.compat.change import Change, Grade, Sort
from pyopscaffold.kube.values import listing, mapping, text

if TYPE_CHECKING:
    from collections.abc import Iterator

_INT_OR_STRING = "x-kubernetes-int-or-string"
_EITHER = ({"type": "integer"}, {"type": "string"})
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_RULES = "x-kubernetes-validations"
_JUNCTORS = ("allOf", "anyOf", "oneOf", "not")
_MERGING = {  # keyword: what it is where nothing is said
    "x-kubernetes-list-type": "atomic",
    "x-kubernetes-map-type": "granular",
}
_LIST_KEYS = "x-kubernetes-list-map-keys"
_WIDER = {("integer", "number"), ("integer", "int-or-string"), ("string", "int-or-string")}
_WIDER_FORMATS = {("int32", "int64"), ("float", "double")}
_EVERYWHERE = frozenset({"apiVersion", "kind", "metadata"})
"""What each object has whatever its schema says: the server sees to these fields."""


@dataclass(frozen=True)
class _Place:
    """Where the compared nodes stand; ``tail`` is the tuple of keys below the version's schema."""

    version: str
    before: str
    path: tuple[str | int, ...]
    field: str = ""

    def change(self, grade: Grade, sort: Sort, message: str, *keys: str | int) -> Change:
        return Change(
            version=self.version,
            before=self.before,
            field=self.field,
            sort=sort,
            message=f"{self.field or 'the object'} {message}",
            grade=grade,
            path=(*self.path, *keys),
        )

    def below(self, field: str, *keys: str | int) -> _Place:
        return _Place(self.version, self.before, (*self.path, *keys), self.field + field)


def compare(
    old: dict[str, Any], new: dict[str, Any], *, version: str, path: tuple[str | int, ...], before: str = ""
) -> Iterator[Change]:
    """Yield what changed from schema ``old`` to ``new``, which stands at ``path``, parents before children."""
    pending = [(old, new, _Place(version, before, path))]
    while pending:
        was, now, place = pending.pop()
        if was == now:
            continue
        same_type = _kind(was) == _kind(now)
        if not same_type:
            yield _type(was, now, place)
        yield from _values(was, now, place)
        if not same_type:
            continue
        yield from _junctors(was, now, place)
        yield from _rules(was, now, place)
        yield from _merging(was, now, place)
        yield from _fields(was, now, place)
        pending += reversed(list(_shared(was, now, place)))


def _shared(
    was: dict[str, Any], now: dict[str, Any], place: _Place
) -> Iterator[tuple[dict[str, Any], dict[str, Any], _Place]]:
    """Yield the nodes that both have, in the order of the new one, and those that became values by any key."""
    old, new = mapping(was.get("properties")), mapping(now.get("properties"))
    for name, schema in new.items():
        if name in old and (place.field or name not in _EVERYWHERE):
            yield mapping(old[name]), mapping(schema), place.below(f".{name}", "properties", name)
    if isinstance(was.get("items"), dict) and isinstance(now.get("items"), dict):
        yield was["items"], now["items"], place.below("[]", "items")
    if values := _any_key(now):
        for name in [name for name in old if name not in new]:
            yield mapping(old[name]), values, place.below(f".{name}", "additionalProperties")
        if before := _any_key(was):
            yield before, values, place.below("{}", "additionalProperties")


def _any_key(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of values by any key, {} where there are none."""
    values = schema.get("additionalProperties")
    return {_PRESERVE: True} if values is True else mapping(values)


def _kind(schema: dict[str, Any]) -> str:
    if schema.get(_INT_OR_STRING) is True:
        return "int-or-string"
    return text(schema.get("type"))


def _type(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Change:
    left, right = _kind(was), _kind(now)
    if not right and now.get(_PRESERVE) is True:
        return place.change(Grade.RISKY, Sort.TYPE, f"took {_named(left)}, and takes anything now")
    grade = Grade.RISKY if (left, right) in _WIDER else Grade.BREAKING
    return place.change(grade, Sort.TYPE, f"was {_named(left)} and is {_named(right)} now", *_at(now, "type"))


def _named(kind: str) -> str:
    return {"": "anything", "int-or-string": "an integer or a string"}.get(
        kind, f"{'an' if kind[:1] in 'aeio' else 'a'} {kind}"
    )


def _at(schema: dict[str, Any], key: str) -> tuple[str, ...]:
    return (key,) if key in schema else ()


def _values(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    """Yield how the set of valid values changed, but for rules and what is below."""
    yield from _enum(was, now, place)
    for bound in bounds(was, now):
        grade = Grade.BREAKING if bound.tightened else Grade.COMPATIBLE
        yield place.change(grade, Sort.BOUND, bound.message, *_at(now, bound.keyword))
    yield from _format(was, now, place)
    if was.get("nullable") is True and now.get("nullable") is not True:
        yield place.change(Grade.BREAKING, Sort.BOUND, "may not be null any more", *_at(now, "nullable"))
    elif was.get("nullable") is not True and now.get("nullable") is True:
        yield place.change(Grade.RISKY, Sort.BOUND, "may be null now, which readers must bear", "nullable")
    if now.get(_EMBEDDED) is True and was.get(_EMBEDDED) is not True:
        yield place.change(Grade.BREAKING, Sort.BOUND, "must be a whole object with apiVersion and kind", _EMBEDDED)
    yield from _default(was, now, place)


def _enum(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    old, new = listing(was.get("enum")), listing(now.get("enum"))
    if not old:
        if new:
            yield place.change(Grade.BREAKING, Sort.ENUM, f"takes only {_values_of(new)} now", "enum")
        return
    if not new:
        yield place.change(Grade.RISKY, Sort.ENUM, "takes other values than those of its enum now")
        return
    if gone := [value for value in old if not _holds(new, value)]:
        yield place.change(Grade.BREAKING, Sort.ENUM, f"does not take {_values_of(gone)} any more", "enum")
    if more := [value for value in new if not _holds(old, value)]:
        message = f"takes {_values_of(more)} too, which readers that know all values must bear"
        yield place.change(Grade.RISKY, Sort.ENUM, message, "enum")


def _holds(values: list[Any], value: Any) -> bool:
    """Whether the value is there as JSON has it, where true is not 1."""
    return any(found == value and isinstance(found, bool) == isinstance(value, bool) for found in values)


def _values_of(values: list[Any]) -> str:
    return ", ".join(_shown(value) for value in values)


def _shown(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False))


def _format(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    old, new = text(was.get("format")), text(now.get("format"))
    if old == new:
        return
    if not new or (old, new) in _WIDER_FORMATS:
        message = (
            f"is {new} now, which clients in {old} can't hold" if new else f"is not bound to format {old} any more"
        )
        yield place.change(Grade.RISKY if new else Grade.COMPATIBLE, Sort.BOUND, message, *_at(now, "format"))
    elif not old and _has_room(new, was):
        message = f"is of format {new} now, which its bounds held it to already"
        yield place.change(Grade.COMPATIBLE, Sort.BOUND, message, "format")
    else:
        yield place.change(Grade.BREAKING, Sort.BOUND, f"must be of format {new} now", "format")


def _has_room(name: str, schema: dict[str, Any]) -> bool:
    """Whether a format of integers is at least as wide as the bounds of a schema."""
    limit = {"int32": 2**31 - 1, "int64": 2**63 - 1}.get(name, -1)
    bounds = (schema.get("minimum"), schema.get("maximum"))
    return all(isinstance(bound, int) and -limit - 1 <= bound <= limit for bound in bounds)


def _default(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    old, new = was.get("default"), now.get("default")
    if old == new and isinstance(old, bool) == isinstance(new, bool):
        return
    if old is None:
        message = f"has the default {_shown(new)} now, also in objects that are stored without it"
        yield place.change(Grade.RISKY, Sort.DEFAULT, message, "default")
    elif new is None:
        yield place.change(Grade.BREAKING, Sort.DEFAULT, f"has not the default {_shown(old)} any more")
    else:
        message = f"has another default: {_shown(new)}, not {_shown(old)}"
        yield place.change(Grade.BREAKING, Sort.DEFAULT, message, "default")


def _junctors(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    for key in _JUNCTORS:
        old, new = _junctor(was, key), _junctor(now, key)
        if old == new:
            continue
        if new is None:
            yield place.change(Grade.COMPATIBLE, Sort.BOUND, f"is not restricted by {key} any more")
        elif _loosened(key, listing(old), listing(new)):
            yield place.change(Grade.COMPATIBLE, Sort.BOUND, f"is less restricted by {key}", key)
        else:
            said = "is restricted by" if old is None else "may be more restricted by another"
            yield place.change(Grade.BREAKING, Sort.BOUND, f"{said} {key} now", key)


def _junctor(schema: dict[str, Any], key: str) -> Any:
    """Return a junctor, but not the one that controller-gen writes beside int-or-string: it restricts nothing."""
    found = schema.get(key)
    if key == "anyOf" and schema.get(_INT_OR_STRING) is True and all(kind in listing(found) for kind in _EITHER):
        return None
    return found


def _loosened(key: str, old: list[Any], new: list[Any]) -> bool:
    """Whether fewer schemas must hold, or more of which one must."""
    less, more = {"allOf": (new, old), "anyOf": (old, new)}.get(key, ([], []))
    return bool(less) and all(one in more for one in less)


def _rules(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    old = {text(mapping(rule).get("rule")).strip() for rule in listing(was.get(_RULES))}
    found = set()
    for index, rule in enumerate(listing(now.get(_RULES))):
        one = text(mapping(rule).get("rule")).strip()
        found.add(one)
        if one not in old:
            yield place.change(Grade.BREAKING, Sort.BOUND, f"must meet the rule {_shown(one)}", _RULES, index)
    for one in sorted(old - found):
        yield place.change(Grade.COMPATIBLE, Sort.BOUND, f"need not meet the rule {_shown(one)} any more")


def _merging(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    for key, default in _MERGING.items():
        old, new = was.get(key) or default, now.get(key) or default
        if old != new:
            more = ", and refuses items that are there twice" if old == "atomic" and key in now else ""
            message = f"is merged as {new}, not as {old}, by server-side apply{more}"
            yield place.change(Grade.RISKY, Sort.MERGE, message, *_at(now, key))
    keys = [listing(schema.get(_LIST_KEYS)) for schema in (was, now)]
    if all(keys) and set(map(str, keys[0])) != set(map(str, keys[1])):
        shown = [", ".join(map(str, names)) for names in keys]
        yield place.change(Grade.RISKY, Sort.MERGE, f"tells items apart by {shown[1]}, not by {shown[0]}", _LIST_KEYS)


def _fields(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    ours = frozenset() if place.field else _EVERYWHERE
    old, new = mapping(was.get("properties")), mapping(now.get("properties"))
    grade, kept = Grade.BREAKING, "dropped"
    if now.get(_PRESERVE) is True or _any_key(now):
        grade, kept = Grade.RISKY, "kept, as one of any keys" if _any_key(now) else "kept, but not checked any more"
    for name in old.keys() - new.keys() - ours:
        yield place.below(f".{name}").change(grade, Sort.REMOVED, f"is gone; what is stored is {kept}")
    yield from _opaque(was, now, place)
    was_open = was.get(_PRESERVE) is True
    required = {name for name in listing(now.get("required")) if isinstance(name, str)} - ours
    newly = required - set(map(str, listing(was.get("required"))))
    for name, schema in new.items():
        inner = place.below(f".{name}", "properties", name)
        defaulted = mapping(schema).get("default") is not None
        if name in newly and defaulted:
            yield inner.change(Grade.COMPATIBLE, Sort.REQUIRED, "is required, but has a default")
        elif name in newly:
            yield inner.change(Grade.BREAKING, Sort.REQUIRED, "is required now")
        elif name not in old and name not in ours:
            if was_open:
                yield inner.change(
                    Grade.RISKY, Sort.TYPE, f"is {_named(_kind(mapping(schema)))}, where anything was taken"
                )
            else:
                yield inner.change(Grade.COMPATIBLE, Sort.ADDED, "is new")
    for name in sorted(newly - new.keys()):
        yield place.below(f".{name}").change(Grade.BREAKING, Sort.REQUIRED, "is required now")
    for name in sorted(set(map(str, listing(was.get("required")))) & new.keys() - required):
        yield place.below(f".{name}", "properties", name).change(
            Grade.COMPATIBLE, Sort.REQUIRED, "is not required any more"
        )


def _opaque(was: dict[str, Any], now: dict[str, Any], place: _Place) -> Iterator[Change]:
    """Yield whether unknown fields, or values by any key, have a place as before."""
    if was.get(_PRESERVE) is True and now.get(_PRESERVE) is not True:
        yield place.change(Grade.BREAKING, Sort.REMOVED, "does not keep unknown fields any more")
    elif now.get(_PRESERVE) is True and was.get(_PRESERVE) is not True:
        yield place.change(Grade.COMPATIBLE, Sort.ADDED, "keeps unknown fields now", _PRESERVE)
    key = "additionalProperties"
    old, new = (schema.get(key) not in (None, False) for schema in (was, now))
    if old and not new:
        yield place.change(Grade.BREAKING, Sort.REMOVED, "does not take values by any key any more")
    elif new and not old:
        yield place.change(Grade.COMPATIBLE, Sort.ADDED, "takes values by any key now", key)
