"""ST13: the schema does not contradict itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyopscaffold.kube.values import listing
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Node, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
_TYPES = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), ("integer", "number")
    ),
    **dict.fromkeys(("minItems", "maxItems", "items"), ("array",)),
    **dict.fromkeys(("minProperties", "maxProperties", "properties", "required", "additionalProperties"), ("object",)),
}
"""The types whose values a keyword says something of."""
_SCHEMAS = frozenset({"items", "properties", "additionalProperties"})
"""Keywords that are much to lose where it is the type that is wrong."""
_FITS = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_SILENT = {type_: frozenset(key for key, types in _TYPES.items() if type_ not in types) for type_ in _FITS}
_BOUND = frozenset(keyword for pair in _BOUNDS for keyword in pair)


def check(version: Version) -> Iterator[Hit]:
    """Report bounds that no value meets, values of an enum that can't be, and keywords that say nothing."""
    for node in version.nodes:
        yield from _bounds(node)
        yield from _enum(node)
        silent = _SILENT.get(node.type, frozenset())
        for keyword in () if silent.isdisjoint(node.schema) else sorted(node.schema.keys() & silent):
            if not any(node.schema[keyword] is nothing for nothing in (None, False)):
                fix = Fix((Edit((*node.path, keyword), remove=True),), safe=keyword not in _SCHEMAS)
                message = f"{node.field} is of type {node.type}, of which {keyword} says nothing"
                yield Hit((*node.path, keyword), message, node.field, fix=fix)


def _bounds(node: Node) -> Iterator[Hit]:
    if _BOUND.isdisjoint(node.schema):
        return
    for least, most in _BOUNDS:
        low, high = (_number(node.schema.get(keyword)) for keyword in (least, most))
        if least != "minimum":
            for keyword, bound in ((least, low), (most, high)):
                if bound is not None and bound < 0:
                    yield Hit((*node.path, keyword), f"{keyword} of {node.field} is negative", node.field)
        if low is None or high is None:
            continue
        is_open = least == "minimum" and any(node.schema.get(key) for key in ("exclusiveMinimum", "exclusiveMaximum"))
        if low > high or (is_open and low == high):
            message = f"{node.field} takes no value: {least} is {low}, {most} is {high}"
            yield Hit((*node.path, least), message, node.field)


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _enum(node: Node) -> Iterator[Hit]:
    values, seen = listing(node.schema.get("enum")), set()
    for index, value in enumerate(values):
        place, shown = (*node.path, "enum", index), json.dumps(value, ensure_ascii=False)
        if shown in seen:
            rest = list({json.dumps(each): each for each in values}.values())
            fix = Fix((Edit((*node.path, "enum"), rest),))
            yield Hit(place, f"the enum of {node.field} has {shown} twice", node.field, fix=fix)
        elif not _may_be(node, value):
            kinds = " or ".join(_kinds(node))
            yield Hit(place, f"{shown} in the enum of {node.field} is no {kinds}, so it can't be", node.field)
        seen.add(shown)


def _kinds(node: Node) -> tuple[str, ...]:
    """Give the types that a value may have; none where it may have any."""
    if node.schema.get("x-kubernetes-int-or-string") is True:
        return ("integer", "string")
    return (node.type,) if node.type in _FITS else ()


def _may_be(node: Node, value: Any) -> bool:
    kinds = _kinds(node)
    if value is None and node.schema.get("nullable") is True:
        return True
    return not kinds or any(_is_a(value, kind) for kind in kinds)


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and kind == "integer":
        return value.is_integer()
    return isinstance(value, _FITS[kind])


RULE = Rule(
    id="ST13",
    name="contradiction",
    severity=Severity.ERROR,
    profile=Profile.CHECKLIST,
    subject=Version,
    what="A schema can be met: no minimum is above its maximum, each value of an enum is of the field's type and there "
    "once, and each keyword says something of that type.",
    why="The API server takes such a schema and then refuses every object, or checks nothing where a check was meant.",
    check=check,
    good=(
        spec("size: {type: integer, minimum: 1, maximum: 9}"),
        spec("mode: {type: string, enum: [Fast, Safe]}"),
        spec("port: {x-kubernetes-int-or-string: true, maxLength: 15, minimum: 1}"),
        spec("any: {x-kubernetes-preserve-unknown-fields: true, enum: [a, 1, null]}"),
    ),
    bad=(
        spec("size: {type: integer, minimum: 9, maximum: 1}"),
        spec("size: {type: integer, minimum: 1, maximum: 1, exclusiveMaximum: true}"),
        spec("name: {type: string, minLength: -1}"),
        spec("name: {type: string, enum: [a, 1]}"),
        spec("port: {x-kubernetes-int-or-string: true, enum: [1, http, null]}"),
        spec("name: {type: string, enum: [a, a]}"),
        spec("size: {type: integer, maxLength: 3}"),
        spec("name: {type: string, minimum: 0}"),
        spec("name: {type: string, properties: {a: {type: string}}}"),
    ),
    good_class=widget(
        '''
        size: Annotated[int32, Ge(1), Le(9)] = 1
        """Number of parts; 1 if unset."""
        '''
    ),
)
