"""Whether a value fits a schema, as the API server judges it."""

from __future__ import annotations

from typing import Any

import pytest

from pyopscaffold.schema import Schema, validate

STRING = Schema(type="string")
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
        (Schema(type="array", items=STRING, max_items=1), ["a", "b"], "it has 2 of at most 1 items"),
        (Schema(type="array", items=STRING), ["a", 1], "[1]: 1 is not a string"),
        (PORT, {}, "name is missing"),
        (PORT, {"name": "a", "number": 10}, "number: 10 is more than 9"),
        (PORT, {"name": "a", "nmae": "b"}, "there is no field nmae"),
        (Schema(type="object", additional_properties=PORT), {"x": {"name": 1}}, "x.name: 1 is not a string"),
        (Schema(type="object", max_properties=0), {"x": 1}, "it has 1 of at most 0 entries"),
    ],
)
def test_misfits(schema: Schema, value: Any, message: str) -> None:
    """A misfit names the path and what was expected."""
    assert message in [str(misfit) for misfit in validate(schema, value)]
