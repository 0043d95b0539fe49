"""Whether a value fits a schema, as the API server judges it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyopscaffold.schema import Schema, validate

STRING = Schema(type="string")
ITEM = Schema(type="object", properties={"a": STRING, "b": Schema(type="integer"), "c": STRING})
KEYED = Schema(type="array", list_type="map", list_map_keys=("a", "b"), items=ITEM)
WHOLE = Schema(type="object", embedded_resource=True, preserve_unknown_fields=True)
NAMED = Schema(
    type="object",
    embedded_resource=True,
    properties={
        "metadata": Schema(type="object", properties={"name": Schema(type="string", pattern="^a$")}),
    },
)
WIDE = Schema(type="object", properties={"x": STRING, "y": Schema(type="integer")})
PORT = Schema(
    type="object", properties={"name": STRING, "number": Schema(type="integer", maximum=9)}, required=("name",)
)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (STRING, ""),
        (Schema(type="string", pattern="b"), "abc"),
        (Schema(type="string", max_length=1), "é"),
        (Schema(type="integer", minimum=1, maximum=1), 1),
        (Schema(type="integer", format="int32"), 2**31 - 1),
        (Schema(type="number"), 1),
        (Schema(type="number", minimum=0, exclusive_minimum=True), 0.1),
        (Schema(type="boolean"), False),
        (Schema(int_or_string=True), 1),
        (Schema(int_or_string=True, pattern="^1Gi$"), "1Gi"),
        (Schema(type="string", nullable=True, min_length=1), None),
        (Schema(preserve_unknown_fields=True), {"a": [1]}),
        (PORT, {"name": "a"}),
        (Schema(type="object", preserve_unknown_fields=True), {"a": 1}),
        (Schema(type="object", additional_properties=PORT), {"a": {"name": "b"}}),
        (Schema(type="array", items=PORT, min_items=1), [{"name": "b", "number": 9}]),
        (Schema(type="array", items=STRING), ["a", "a"]),
        (Schema(type="array", items=Schema(preserve_unknown_fields=True), list_type="set"), ["1", 1, True, [1], {}]),
        (KEYED, [{"a": "x", "b": 1, "c": "z"}, {"a": "x", "b": 2, "c": "z"}, {"a": "x"}, {}]),
        (WHOLE, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}, "spec": {}}),
        (Schema(type="object", embedded_resource=True, properties={"spec": WIDE}), {"apiVersion": "v1", "kind": "X"}),
        (NAMED, {"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "labels": {"b": "c"}}}),
        (NAMED, {"apiVersion": "v1", "kind": "X", "metadata": {"name": ""}}),
        (NAMED, {"apiVersion": "v1", "kind": "X", "metadata": None}),
        (replace(WIDE, one_of=({"required": ["x"]}, {"required": ["y"]})), {"x": ""}),
        (replace(WIDE, any_of=({"required": ["x"]}, {"properties": {"y": {"minimum": 2}}})), {"y": 2}),
        (replace(WIDE, all_of=({"not": {"required": ["x", "y"]}},)), {"x": ""}),
        (replace(STRING, not_={"enum": ["a"]}), "b"),
        (replace(STRING, all_of=({"minLength": 1}, {"pattern": "^a"})), "ab"),
        (Schema(type="number", multiple_of=0.1), 0.7),
        (Schema(type="number", multiple_of=0.07), 0.7),
        (Schema(type="number", multiple_of=2.5), 4),
        (Schema(type="number", minimum=1.5), 1),
    ],
)
def test_fits(schema: Schema, value: Any) -> None:
    """A value that the API server takes has no misfit."""
    assert validate(schema, value) == ()


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (STRING, 1, "1 is not a string"),
        (STRING, None, "null is not allowed"),
        (Schema(type="integer"), True, "True is not an integer"),
        (Schema(type="integer"), 1.5, "1.5 is not an integer"),
        (Schema(int_or_string=True), 1.5, "1.5 is not an integer or a string"),
        (Schema(type="integer", minimum=2), 1, "1 is less than 2"),
        (Schema(type="integer", maximum=2), 3, "3 is more than 2"),
        (Schema(type="integer", minimum=2, exclusive_minimum=True), 2, "2 is not more than 2"),
        (Schema(type="integer", maximum=2, exclusive_maximum=True), 2, "2 is not less than 2"),
        (Schema(type="integer", multiple_of=5), 3, "3 is no multiple of 5"),
        (Schema(type="integer", format="int32"), 2**31, "2147483648 does not fit into int32"),
        (Schema(type="string", min_length=2), "a", "it has 1 of at least 2 characters"),
        (Schema(type="string", pattern="^a$"), "b", '"b" does not match ^a$'),
        (Schema(type="string", enum=("a", "b")), "c", '"c" is none of "a", "b"'),
        (Schema(type="boolean", enum=(1,)), True, "True is none of 1"),
        (Schema(type="array", items=Schema(type="integer"), enum=([True], [0])), [1], "[1] is none of [True], [0]"),
        (Schema(type="array", items=STRING, max_items=1), ["a", "b"], "it has 2 of at most 1 items"),
        (Schema(type="array", items=STRING), ["a", 1], "[1]: 1 is not a string"),
        (PORT, {}, "name is missing"),
        (PORT, {"name": "a", "number": 10}, "number: 10 is more than 9"),
        (PORT, {"name": "a", "nmae": "b"}, "there is no field nmae"),
        (Schema(type="object", additional_properties=PORT), {"x": {"name": 1}}, "x.name: 1 is not a string"),
        (Schema(type="object", max_properties=0), {"x": 1}, "it has 1 of at most 0 entries"),
        (Schema(type="integer"), 2**63, "9223372036854775808 does not fit into int64"),
        (Schema(int_or_string=True), 2**63, "9223372036854775808 does not fit into int64"),
        (Schema(type="number", format="float"), 1e39, "1e+39 does not fit into float"),
        (Schema(type="number", multiple_of=0.5), 1, "1 is no multiple of 0.5"),
        (Schema(type="number", multiple_of=2), 10**20, "100000000000000000000 is no multiple of 2"),
        (Schema(type="number", multiple_of=0.2), 0.7, "0.7 is no multiple of 0.2"),
        (
            Schema(type="array", items=STRING, list_type="set"),
            ["a", "b", "a"],
            "[2]: it is the same as an earlier item",
        ),
        (KEYED, [{"a": "x"}, {"a": "x", "c": "z"}], "[1]: it is the same as the keys of an earlier item"),
        (WHOLE, {}, "apiVersion is missing"),
        (NAMED, {"apiVersion": "v1", "kind": "X", "metadata": {"name": "b"}}, 'metadata.name: "b" does not match ^a$'),
        (WHOLE, {"apiVersion": "a/b/c", "kind": "X"}, 'apiVersion: "a/b/c" is no group and version'),
        (WHOLE, {"apiVersion": "v1", "kind": "1"}, 'kind: "1" is no kind'),
        (
            replace(WIDE, one_of=({"required": ["x"]}, {"required": ["y"]})),
            {},
            "it fits none of the schemas of oneOf, not one",
        ),
        (
            replace(WIDE, one_of=({"maxProperties": 2}, {"required": ["y"]})),
            {"y": 1},
            "it fits 2 of the schemas of oneOf, not one",
        ),
        (
            replace(WIDE, any_of=({"properties": {"x": {"minLength": 1}}},)),
            {"x": ""},
            "it fits none of the schemas of anyOf",
        ),
        (replace(STRING, all_of=({"minLength": 1},)), "", "it has 0 of at least 1 characters"),
        (replace(STRING, not_={"enum": ["a"]}), "a", "it fits the schema of not"),
    ],
)
def test_misfits(schema: Schema, value: Any, message: str) -> None:
    """A misfit names the path and what was expected."""
    assert message in [str(misfit) for misfit in validate(schema, value)]
