"""Laws of the codec that hold for any dataclass."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, make_dataclass
from datetime import datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from itertools import count
from types import GenericAlias
from typing import Any, Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyopscaffold import codec
from pyopscaffold.api import Quantity
from pyopscaffold.errors import CodecError


class Mode(StrEnum):
    FAST = "Fast"
    SAFE = "Safe"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Case:
    """A type, and values of it."""

    hint: Any
    values: st.SearchStrategy[Any]


_patient = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
_zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_times = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=_zones)  # noqa: DTZ001 - the zones follow
_scalars = [
    Case(str, st.text()),
    Case(int, st.integers()),
    Case(float, st.floats(allow_nan=False, allow_infinity=False)),
    Case(bool, st.booleans()),
    Case(bytes, st.binary(max_size=8)),
    Case(datetime, _times),
    Case(timedelta, st.timedeltas(min_value=timedelta(days=-90000), max_value=timedelta(days=90000))),
    Case(Mode, st.sampled_from(Mode)),
    Case(Level, st.sampled_from(Level)),
    Case(Literal["a", "b"], st.sampled_from(["a", "b"])),
    Case(int | str, st.integers() | st.text()),
]
# names that the codec's own code might use
_names = [
    "name",
    "self",
    "cls",
    "mirror",
    "value",
    "at",
    "init",
    "made",
    "mapping",
    "obj",
    "Misfit",
    "from_",
    "api_url",
]
_number = count()


def _alias(*parts: Any) -> Any:
    container, *arguments = parts
    return GenericAlias(container, tuple(arguments))


def _containers(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    scalars = st.sampled_from(_scalars)
    return st.one_of(
        inner.map(lambda case: Case(_alias(list, case.hint), st.lists(case.values, max_size=3))),
        inner.map(lambda case: Case(_alias(tuple, case.hint, ...), st.lists(case.values, max_size=3).map(tuple))),
        inner.map(lambda case: Case(_alias(dict, str, case.hint | None), _mappings(st.none() | case.values))),
        inner.map(lambda case: Case(_alias(dict, str, case.hint), _mappings(case.values))),
        scalars.map(lambda case: Case(_alias(set, case.hint), st.sets(case.values, max_size=3))),
        scalars.map(lambda case: Case(_alias(frozenset, case.hint), st.frozensets(case.values, max_size=3))),
        _classes(inner),
    )


def _mappings(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.text(), values, max_size=3)


def _default(value: Any) -> Any:
    return field(default_factory=lambda: value)


@st.composite
def _classes(draw: st.DrawFn, inner: st.SearchStrategy[Case]) -> Case:
    fields: list[Any] = []
    values = {}
    for name in draw(st.lists(st.sampled_from(_names), unique=True, max_size=5)):
        case = draw(inner)
        match draw(st.sampled_from(["required", "default", "optional"])):
            case "optional":
                fields.append((name, case.hint | None, field(default=None)))
                values[name] = st.none() | case.values
            case "default":
                fields.append((name, case.hint, _default(draw(case.values))))
                values[name] = case.values
            case _:
                fields.append((name, case.hint))
                values[name] = case.values
    frozen, slots = draw(st.booleans()), draw(st.booleans())
    cls = make_dataclass(f"Made{next(_number)}", fields, kw_only=True, frozen=frozen, slots=slots)
    return Case(cls, st.builds(cls, **values))


_cases = _classes(st.recursive(st.sampled_from([*_scalars, Case(Quantity, st.text())]), _containers, max_leaves=6))
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def _near_misses(draw: st.DrawFn, value: Any) -> Any:
    """Replace something in a JSON value."""
    if not value or not isinstance(value, dict | list) or draw(st.booleans()):
        return draw(_json)
    changed: Any = value.copy()
    key = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    changed[key] = draw(_near_misses(value[key]))
    return changed


@_patient
@given(st.data())
def test_what_is_written_reads_back(data: st.DataObject) -> None:
    """A value of any dataclass is what its own JSON reads as, be it a mapping or text."""
    case = data.draw(_cases)
    value = data.draw(case.values)
    mapping = codec.to_mapping(value)
    assert codec.decode(case.hint, mapping) == value
    assert codec.decode(case.hint, json.dumps(mapping).encode()) == value
    assert codec.to_mapping(codec.decode(case.hint, mapping)) == mapping


@_patient
@given(st.data())
def test_any_json_is_read_or_refused(data: st.DataObject) -> None:
    """JSON that is nearly right is read, and then reads back, or is a CodecError; nothing else comes out."""
    case = data.draw(_cases)
    near = data.draw(_near_misses(codec.to_mapping(data.draw(case.values))))
    text = json.dumps(near).encode()
    try:
        value = codec.decode(case.hint, text)
    except CodecError as error:
        assert error.path.startswith("$")  # noqa: PT017 - either outcome is right
        assert "[...]" not in error.path  # noqa: PT017
        return
    assert codec.decode(case.hint, codec.to_mapping(value)) == value
