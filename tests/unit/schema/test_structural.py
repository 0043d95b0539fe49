"""The JSON form of schemas."""

from __future__ import annotations

from pyopscaffold.schema import Rule, Schema, to_mapping


def test_unset_attributes_stay_out() -> None:
    """Only what is set is written, with zero and false where they mean something."""
    schema = Schema(type="integer", minimum=0, default=0)
    assert to_mapping(schema) == {"default": 0, "minimum": 0, "type": "integer"}
    assert to_mapping(Schema(type="boolean", default=False)) == {"default": False, "type": "boolean"}
    assert to_mapping(Schema(nullable=True, default=None)) == {"default": None, "nullable": True}


def test_int_or_string() -> None:
    """An int-or-string has no type but two alternatives."""
    assert to_mapping(Schema(int_or_string=True)) == {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    }


def test_keys_are_sorted() -> None:
    """Keys and properties come in alphabetical order, as controller-gen writes them."""
    schema = Schema(
        type="object",
        description="An object.",
        properties={
            "b": Schema(type="string"),
            "a": Schema(type="array", items=Schema(type="string"), list_type="set"),
        },
        required=("b",),
    )
    mapping = to_mapping(schema)
    assert list(mapping) == sorted(mapping)
    assert list(mapping["properties"]) == ["a", "b"]
    assert mapping["properties"]["a"] == {
        "items": {"type": "string"},
        "type": "array",
        "x-kubernetes-list-type": "set",
    }


def test_rules() -> None:
    """A rule says what it was given and no more; false is said, since it differs from nothing."""
    bare, full = Rule(rule="self > 0"), Rule(rule="true", message="m", reason="FieldValueInvalid", field_path=".a")
    silent = Rule(rule="true", message_expression="'m'", optional_old_self=False)
    assert to_mapping(Schema(rules=(bare, full, silent)))["x-kubernetes-validations"] == [
        {"rule": "self > 0"},
        {"rule": "true", "message": "m", "reason": "FieldValueInvalid", "fieldPath": ".a"},
        {"rule": "true", "messageExpression": "'m'", "optionalOldSelf": False},
    ]
