"""Changes of a schema, and their grades."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from pyopscaffold.compat.change import Change, Grade, Sort
from pyopscaffold.compat.schema import compare

C, R, B = Grade.COMPATIBLE, Grade.RISKY, Grade.BREAKING


def changes(old: str, new: str) -> list[Change]:
    """Compare two schemas of the spec's field ``x``."""
    was, now = ({"type": "object", "properties": {"x": yaml.safe_load(text)}} for text in (old, new))
    return list(compare(was, now, version="v1", path=("schema",)))


CASES: list[tuple[str, str, list[tuple[Grade, Sort, str]]]] = [
    ("{type: string}", "{type: string, description: New., title: T, example: e}", []),
    ("{type: string}", "{type: integer}", [(B, Sort.TYPE, ".x was a string and is an integer now")]),
    ("{type: integer}", "{type: number}", [(R, Sort.TYPE, ".x was an integer and is a number now")]),
    ("{type: number}", "{type: integer}", [(B, Sort.TYPE, ".x was a number and is an integer now")]),
    ("{type: string}", "{x-kubernetes-int-or-string: true}", [(R, Sort.TYPE, "an integer or a string")]),
    ("{x-kubernetes-int-or-string: true}", "{type: string}", [(B, Sort.TYPE, "is a string now")]),
    ("{type: string}", "{x-kubernetes-preserve-unknown-fields: true}", [(R, Sort.TYPE, "takes anything now")]),
    (
        "{type: string}",
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        [(B, Sort.TYPE, "was a string and is an object")],
    ),
    ("{type: array}", "{type: array, items: {type: string}}", []),
    ("{type: array, items: {type: string}}", "{type: object}", [(B, Sort.TYPE, "was an array and is an object")]),
    ("{type: array, items: {type: string}}", "{type: array, items: {type: integer}}", [(B, Sort.TYPE, ".x[] was")]),
    ("{type: string}", "{type: string, enum: [a]}", [(B, Sort.ENUM, 'takes only "a" now')]),
    ("{type: string, enum: [a, b]}", "{type: string, enum: [b, a]}", []),
    ("{type: string, enum: [a, b]}", "{type: string, enum: [b]}", [(B, Sort.ENUM, 'does not take "a" any more')]),
    ("{type: string, enum: [b]}", "{type: string, enum: [a, b]}", [(R, Sort.ENUM, 'takes "a" too')]),
    ("{type: string, enum: [b]}", "{type: string}", [(R, Sort.ENUM, "other values")]),
    ("{type: integer}", "{type: integer, minimum: 1}", [(B, Sort.BOUND, "must be at least 1 now")]),
    ("{type: integer, minimum: 1}", "{type: integer, minimum: 2}", [(B, Sort.BOUND, "at least 2")]),
    ("{type: integer, minimum: 2}", "{type: integer, minimum: 1}", [(C, Sort.BOUND, "may be at least 1")]),
    ("{type: integer, minimum: 2}", "{type: integer}", [(C, Sort.BOUND, "need not be at least 2 any more")]),
    (
        "{type: integer, minimum: 1}",
        "{type: integer, minimum: 1, exclusiveMinimum: true}",
        [(B, Sort.BOUND, "must be more than 1 now")],
    ),
    (
        "{type: integer, maximum: 9, exclusiveMaximum: true}",
        "{type: integer, maximum: 9}",
        [(C, Sort.BOUND, "may be at most 9 now, not only less than 9")],
    ),
    ("{type: string}", "{type: string, minLength: 0}", []),
    ("{type: string}", "{type: string, maxLength: 3}", [(B, Sort.BOUND, "at most 3 characters long")]),
    ("{type: array}", "{type: array, minItems: 1}", [(B, Sort.BOUND, "at least 1 items long")]),
    ("{type: object, maxProperties: 2}", "{type: object, maxProperties: 1}", [(B, Sort.BOUND, "at most 1 keys")]),
    ("{type: string}", "{type: string, pattern: ^a$}", [(B, Sort.BOUND, "must match ^a$ now")]),
    ("{type: string, pattern: b}", "{type: string, pattern: a}", [(B, Sort.BOUND, "must match a now, not b")]),
    ("{type: string, pattern: b}", "{type: string}", [(C, Sort.BOUND, "need not match b")]),
    ("{type: integer, multipleOf: 4}", "{type: integer, multipleOf: 2}", [(C, Sort.BOUND, "multiple of 2")]),
    ("{type: integer, multipleOf: 2}", "{type: integer, multipleOf: 4}", [(B, Sort.BOUND, "multiple of 4")]),
    ("{type: integer, multipleOf: 2}", "{type: integer}", [(C, Sort.BOUND, "need not be a multiple")]),
    ("{type: string}", "{type: string, format: date}", [(B, Sort.BOUND, "must be of format date now")]),
    ("{type: string, format: date}", "{type: string}", [(C, Sort.BOUND, "not bound to format date")]),
    ("{type: integer, format: int32}", "{type: integer, format: int64}", [(R, Sort.BOUND, "is int64 now")]),
    ("{type: integer, format: int64}", "{type: integer, format: int32}", [(B, Sort.BOUND, "format int32")]),
    (
        "{type: integer, minimum: 0, maximum: 9}",
        "{type: integer, minimum: 0, maximum: 9, format: int32}",
        [(C, Sort.BOUND, "is of format int32")],
    ),
    (
        "{type: integer, minimum: 0}",
        "{type: integer, minimum: 0, format: int32}",
        [(B, Sort.BOUND, "must be of format int32")],
    ),
    ("{type: string, nullable: true}", "{type: string}", [(B, Sort.BOUND, "may not be null any more")]),
    ("{type: string}", "{type: string, nullable: true}", [(R, Sort.BOUND, "may be null now")]),
    ("{type: string}", "{type: string, default: a}", [(R, Sort.DEFAULT, 'has the default "a" now')]),
    ("{type: string, default: a}", "{type: string}", [(B, Sort.DEFAULT, 'has not the default "a" any more')]),
    ("{type: string, default: a}", "{type: string, default: b}", [(B, Sort.DEFAULT, '"b", not "a"')]),
    ("{type: boolean, default: true}", "{type: boolean, default: false}", [(B, Sort.DEFAULT, "false, not true")]),
    ("{type: array}", "{type: array, x-kubernetes-list-type: atomic}", []),
    ("{type: object}", "{type: object, x-kubernetes-map-type: granular}", []),
    ("{type: array}", "{type: array, x-kubernetes-list-type: set}", [(R, Sort.MERGE, "as set, not as atomic")]),
    (
        "{type: object, x-kubernetes-map-type: atomic}",
        "{type: object}",
        [(R, Sort.MERGE, "as granular, not as atomic")],
    ),
    (
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}",
        "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b]}",
        [(R, Sort.MERGE, "tells items apart by a, b, not by a")],
    ),
    (
        "{type: string}",
        "{type: string, x-kubernetes-validations: [{rule: self != ''}]}",
        [(B, Sort.BOUND, "must meet the rule \"self != ''\"")],
    ),
    (
        "{type: string, x-kubernetes-validations: [{rule: self != ''}]}",
        "{type: string, x-kubernetes-validations: [{rule: self != '', message: not empty}]}",
        [],
    ),
    (
        "{type: string, x-kubernetes-validations: [{rule: self != ''}]}",
        "{type: string}",
        [(C, Sort.BOUND, "need not meet the rule")],
    ),
    ("{type: object}", "{type: object, oneOf: [{required: [a]}]}", [(B, Sort.BOUND, "is restricted by oneOf now")]),
    ("{type: object, anyOf: [{required: [a]}]}", "{type: object}", [(C, Sort.BOUND, "not restricted by anyOf")]),
    (
        "{type: object, anyOf: [{required: [a]}]}",
        "{type: object, anyOf: [{required: [a]}, {required: [b]}]}",
        [(C, Sort.BOUND, "less restricted")],
    ),
    (
        "{type: object, allOf: [{required: [a]}]}",
        "{type: object, allOf: [{required: [a]}, {required: [b]}]}",
        [(B, Sort.BOUND, "may be more restricted")],
    ),
    (
        "{type: object, properties: {a: {type: string}, b: {type: string}}}",
        "{type: object, properties: {a: {type: string}}}",
        [(B, Sort.REMOVED, ".x.b is gone; what is stored is dropped")],
    ),
    (
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        [(R, Sort.REMOVED, ".x.a is gone; what is stored is kept"), (C, Sort.ADDED, "keeps unknown fields now")],
    ),
    (
        "{type: object, x-kubernetes-preserve-unknown-fields: true}",
        "{type: object, properties: {a: {type: string}}}",
        [
            (B, Sort.REMOVED, "does not keep unknown fields any more"),
            (R, Sort.TYPE, ".x.a is a string, where anything was taken"),
        ],
    ),
    (
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, properties: {a: {type: string}, b: {type: string}}}",
        [(C, Sort.ADDED, ".x.b is new")],
    ),
    (
        "{type: object, properties: {a: {type: string}}}",
        "{type: object, required: [a, b], properties: {a: {type: string}, b: {type: string}}}",
        [(B, Sort.REQUIRED, ".x.a is required now"), (B, Sort.REQUIRED, ".x.b is required now")],
    ),
    (
        "{type: object, required: [a], properties: {a: {type: string}}}",
        "{type: object, properties: {a: {type: string}}}",
        [(C, Sort.REQUIRED, ".x.a is not required any more")],
    ),
    ("{type: object}", "{type: object, required: [z]}", [(B, Sort.REQUIRED, ".x.z is required now")]),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: {type: string, maxLength: 1}}",
        [(B, Sort.BOUND, ".x{} must be at most 1 characters long now")],
    ),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{type: object}",
        [(B, Sort.REMOVED, "does not take values by any key any more")],
    ),
    (
        "{type: object, additionalProperties: true}",
        "{type: object, additionalProperties: {type: string}}",
        [(B, Sort.TYPE, ".x{} was anything and is a string now")],
    ),
    (
        "{type: object, additionalProperties: {type: string}}",
        "{type: object, additionalProperties: true}",
        [(R, Sort.TYPE, ".x{} took a string, and takes anything now")],
    ),
    (
        "{type: object, properties: {a: {type: integer}}}",
        "{type: object, additionalProperties: {type: string}}",
        [
            (R, Sort.REMOVED, ".x.a is gone; what is stored is kept, as one of any keys"),
            (C, Sort.ADDED, "takes values by any key now"),
            (B, Sort.TYPE, ".x.a was an integer and is a string now"),
        ],
    ),
    (
        "{x-kubernetes-int-or-string: true}",
        "{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}",
        [],
    ),
    ("{type: string}", "{type: string, enum: []}", []),
    (
        "{type: object}",
        "{type: object, x-kubernetes-embedded-resource: true}",
        [(B, Sort.BOUND, "must be a whole object")],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_a_change_is_graded(old: str, new: str, expected: list[tuple[Grade, Sort, str]]) -> None:
    """Each change is told once, with whom it breaks."""
    found = changes(old, new)
    assert [(change.grade, change.sort) for change in found] == [(grade, sort) for grade, sort, _ in expected]
    for change, (_, _, message) in zip(found, expected, strict=True):
        assert message in change.message


def test_a_required_field_with_a_default_breaks_nobody() -> None:
    """The server fills it in, in stored objects too; that the default acts is told."""
    old = "{type: object, properties: {a: {type: string}}}"
    new = "{type: object, required: [a], properties: {a: {type: string, default: b}}}"
    assert [change.grade for change in changes(old, new)] == [Grade.COMPATIBLE, Grade.RISKY]


def test_what_each_object_has_is_no_field() -> None:
    """apiVersion, kind and metadata are the server's, however they are spelled out."""
    whole = {name: {"type": "string", "enum": ["a"]} for name in ("apiVersion", "kind", "metadata")}
    old: dict[str, Any] = {"type": "object"}
    new = {"type": "object", "required": list(whole), "properties": whole}
    assert list(compare(old, new, version="v1", path=())) == list(compare(new, old, version="v1", path=())) == []


def test_a_change_knows_its_place() -> None:
    """Field and path lead to it, where there is something to lead to."""
    old = "{type: array, items: {type: object, properties: {a: {type: integer}}}}"
    new = "{type: array, items: {type: object, properties: {a: {type: integer, minimum: 1}}}}"
    (change,) = changes(old, new)
    assert change.field == ".x[].a"
    assert change.path == ("schema", "properties", "x", "items", "properties", "a", "minimum")
    (lost,) = changes("{type: integer, default: 1}", "{type: integer}")
    assert lost.path == ("schema", "properties", "x")


@pytest.mark.parametrize("odd", ["null", "3", "[]", "{type: 3, properties: [], items: {}, enum: 1, required: a}"])
def test_what_is_no_schema_is_borne(odd: str) -> None:
    """Rules about structure tell of it; here it stops nothing."""
    for old, new in ((odd, "{type: string}"), ("{type: string}", odd)):
        was, now = ({"properties": {"spec": {"properties": {"x": yaml.safe_load(text)}}}} for text in (old, new))
        assert all(isinstance(change.message, str) for change in compare(was, now, version="v1", path=()))
