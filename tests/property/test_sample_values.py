"""Whatever a field's type and markers, the sample value found for it fits its schema."""

from __future__ import annotations

from typing import Any

from annotated_types import Ge, Gt, Le, MaxLen, MinLen, MultipleOf
from hypothesis import given
from hypothesis import strategies as st

from pyopscaffold.api import ListSet, Pattern
from pyopscaffold.generate.samples import value_of
from pyopscaffold.generate.witness import witnesses
from pyopscaffold.model.kinds import (
    EnumType,
    FieldModel,
    ListType,
    MapType,
    ScalarKind,
    ScalarType,
    SourceSpan,
    StructType,
    TypeModel,
)
from pyopscaffold.model.schema import field_schema, without_defaults
from pyopscaffold.schema import Schema, to_mapping, validate

SPAN = SourceSpan("acme/api/thing.py", 1)
Marked = tuple[TypeModel, tuple[Any, ...]]
PLAIN: tuple[ScalarKind, ...] = ("boolean", "datetime", "duration", "bytes", "int-or-string", "any")

sizes = st.integers(0, 5).flatmap(
    lambda low: st.sampled_from([(), (MinLen(low),), (MaxLen(low + 2),), (MinLen(low), MaxLen(low + 2))])
)
ranges = st.integers(-50, 50).flatmap(
    lambda low: st.sampled_from(
        [
            (),
            (Ge(low),),
            (Gt(low),),
            (Le(low),),
            (Ge(low), Le(low + 9)),
            (Gt(low), MultipleOf(5)),
            (Le(low), MultipleOf(7)),
        ]
    )
)
patterns = st.sampled_from(["^[a-z]+$", r"^v\d+(\.\d+)?$", "^(left|right)$", "[^a]", "^[A-Z][a-z]*(-[a-z]+)*$"])


@st.composite
def _strings(draw: st.DrawFn) -> Marked:
    return ScalarType("string"), draw(st.one_of(sizes, patterns.map(lambda regex: (Pattern(regex),))))


def _containers(inner: st.SearchStrategy[Marked]) -> st.SearchStrategy[Marked]:
    lists = st.tuples(inner, sizes).map(lambda made: (ListType(*made[0]), made[1]))
    maps = st.tuples(inner, sizes).map(lambda made: (MapType(*made[0]), made[1]))
    structs = st.lists(st.tuples(inner, st.booleans()), max_size=3).map(lambda members: (_struct(members), ()))
    return st.one_of(lists, maps, structs)


def _struct(members: list[tuple[Marked, bool]]) -> StructType:
    fields = (
        FieldModel(f"f{number}", f"f{number}", kind, SPAN, markers=markers, has_default=optional, optional=optional)
        for number, ((kind, markers), optional) in enumerate(members)
    )
    return StructType("Part", "", tuple(fields), SPAN)


leaves: st.SearchStrategy[Marked] = st.one_of(
    _strings(),
    st.tuples(st.sampled_from([ScalarType("integer"), ScalarType("number")]), ranges),
    st.sampled_from(PLAIN).map(lambda kind: (ScalarType(kind), ())),
    st.lists(st.text(min_size=1), min_size=1, unique=True).map(lambda values: (EnumType(tuple(values)), ())),
)
types = st.recursive(leaves, _containers, max_leaves=6)


@given(types)
def test_sample_fits(made: Marked) -> None:
    """A value is found, and it fits."""
    field = FieldModel("x", "x", made[0], SPAN, markers=made[1])
    schema = field_schema(field)
    assert validate(schema, value_of(field)) == (), to_mapping(schema)


@given(patterns, st.integers(1, 12))
def test_sets_hold_different_values(pattern: str, count: int) -> None:
    """As many different values are found as a list-set asks for, where the pattern has as many."""
    kind = ListType(ScalarType("string"), (Pattern(pattern),))
    value = value_of(FieldModel("x", "x", kind, SPAN, markers=(MinLen(count), ListSet())))
    assert len(value) == count
    assert len(set(value)) == count or len(set(witnesses(pattern))) < count


@given(
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)),
)
def test_defaults_of_the_parent_and_of_its_fields_add_up(given: dict[str, int], defaults: dict[str, int]) -> None:
    """What is left of a parent's default, filled with the fields' own, is the whole again."""
    schema = Schema(type="object", properties={name: Schema(type="integer", default=n) for name, n in defaults.items()})
    whole = {**defaults, **given}
    assert {**defaults, **without_defaults(whole, schema)} == whole
