"""Schemas from their JSON form; that it is the inverse of writing them, a property test says."""

from __future__ import annotations

from typing import Any

import pytest

from pyopscaffold.schema import Rule, Schema, from_mapping

ALTERNATIVES = [{"type": "integer"}, {"type": "string"}]
SAME: dict[str, tuple[dict[str, Any], Schema]] = {
    "int-or-string": ({"x-kubernetes-int-or-string": True}, Schema(int_or_string=True)),
    "int-or-string with its alternatives": (
        {"x-kubernetes-int-or-string": True, "anyOf": ALTERNATIVES},
        Schema(int_or_string=True),
    ),
    "int-or-string beside others": (
        {"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": ALTERNATIVES}], "anyOf": [{"minimum": 1}]},
        Schema(int_or_string=True, any_of=({"minimum": 1},)),
    ),
    "a map of anything": (
        {"type": "object", "additionalProperties": True},
        Schema(type="object", additional_properties=Schema(preserve_unknown_fields=True)),
    ),
    "nulls": (
        {"type": "string", "nullable": True, "default": None, "enum": ["a", None]},
        Schema(type="string", nullable=True, default=None, enum=("a", None)),
    ),
    "not": ({"type": "string", "not": {"pattern": "^a"}}, Schema(type="string", not_={"pattern": "^a"})),
    "a rule": (
        {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "optionalOldSelf": True}]},
        Schema(type="string", rules=(Rule(rule="self != ''", optional_old_self=True),)),
    ),
    "no bound": ({"type": "integer", "minimum": 0}, Schema(type="integer", minimum=0)),
}


@pytest.mark.parametrize("case", SAME)
def test_spelling(case: str) -> None:
    """Each spelling is read as what it means."""
    data, schema = SAME[case]
    assert from_mapping(data) == schema


def test_what_has_no_place_is_reported() -> None:
    """Unknown keywords, and values of a wrong type, are told with their path, and all else is read."""
    inner = {"type": "string", "x-other": 1, "minLength": "2", "exclusiveMinimum": True}
    data = {"type": "object", "properties": {"a": {"type": "array", "items": inner}}, "additionalProperties": False}
    told: list[tuple[str, str]] = []

    schema = from_mapping(data, report=lambda path, keyword: told.append((path, keyword)))

    assert told == [
        ("a[]", "x-other"),
        ("a[]", "minLength"),
        ("a[]", "exclusiveMinimum"),
        ("", "additionalProperties"),
    ]
    assert schema.properties["a"].items == Schema(type="string")


def test_without_a_report_nothing_is_lost_silently() -> None:
    """What can't be held is an error where nobody listens."""
    with pytest.raises(ValueError, match=r"a: uniqueItems has no place in a structural schema"):
        from_mapping({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}})
