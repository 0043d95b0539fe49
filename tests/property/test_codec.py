"""Laws of the codec."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyopscaffold import codec
from pyopscaffold.api import Object, ObjectMeta, Quantity, resource
from pyopscaffold.errors import CodecError
from pyopscaffold.kube import duration, quantity

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(kw_only=True)
class Part:
    wait: timedelta
    since: datetime | None = None
    token: bytes = b""


@dataclass(kw_only=True)
class Spec:
    name: str
    size: int = 1
    ratio: float = 0.5
    on: bool = False
    mode: Literal["A", "B"] = "A"
    storage: Quantity | None = None
    port: int | str = 0
    part: Part | None = None
    parts: list[Part] = field(default_factory=list)
    by_name: dict[str, Part] = field(default_factory=dict)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec


_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # CI machines are shared

_durations = st.timedeltas(min_value=timedelta(days=-90000), max_value=timedelta(days=90000))
_seconds = st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)).map(  # noqa: DTZ001 - zone follows
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
_parts = st.builds(Part, wait=_durations, since=st.none() | _seconds, token=st.binary(max_size=20))
_specs = st.builds(
    Spec,
    name=st.text(),
    size=st.integers(),
    ratio=st.floats(allow_nan=False, allow_infinity=False),
    on=st.booleans(),
    mode=st.sampled_from(["A", "B"]),
    storage=st.none() | st.text(),
    port=st.integers() | st.text(),
    part=st.none() | _parts,
    parts=st.lists(_parts, max_size=3),
    by_name=st.dictionaries(st.text(), _parts, max_size=3),
)
_metadata = st.builds(
    ObjectMeta, name=st.text(), labels=st.dictionaries(st.text(), st.text()), finalizers=st.lists(st.text())
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
_fields = [
    "name",
    "size",
    "ratio",
    "on",
    "mode",
    "storage",
    "port",
    "part",
    "parts",
    "byName",
    "wait",
    "since",
    "token",
]
_near_misses = st.dictionaries(st.sampled_from(_fields), _json | st.dictionaries(st.sampled_from(_fields), _json))


@_patient
@given(st.builds(Thing, metadata=_metadata, spec=_specs))
def test_what_is_written_reads_back(thing: Thing) -> None:
    """Reading what was written gives the same object, from the mapping and from its text."""
    mapping = codec.to_mapping(thing)
    assert codec.decode(Thing, mapping) == thing
    assert codec.decode(Thing, json.dumps(mapping).encode()) == thing


@_patient
@given(_near_misses)
def test_any_json_is_read_or_refused_with_a_path(spec: dict[str, Any]) -> None:
    """JSON of any form either fits or is a CodecError that names a place; nothing else comes out."""
    try:
        thing = codec.decode(Thing, {"spec": spec})
    except CodecError as error:
        assert error.path.startswith("$.spec")  # noqa: PT017 - either outcome is right
        return
    assert codec.decode(Thing, codec.to_mapping(thing)) == thing


@_patient
@given(st.binary(max_size=60))
def test_any_text_is_read_or_refused(text: bytes) -> None:
    """Bytes of any form are never more than a CodecError."""
    try:
        codec.decode(Thing, text)
    except CodecError as error:
        assert error.path.startswith("$")  # noqa: PT017 - either outcome is right


@_patient
@given(_durations)
def test_durations_round_trip(value: timedelta) -> None:
    """Formatting and parsing a duration changes nothing."""
    assert duration.parse(duration.format_duration(value)) == value


@_patient
@given(
    st.decimals(min_value=0, max_value=10**9, places=3),
    st.sampled_from([("Ki", 1024), ("Mi", 1024**2), ("k", 1000), ("M", 10**6), ("", 1)]),
)
def test_quantities_are_exact(number: Decimal, suffix: tuple[str, int]) -> None:
    """A quantity is its number times its suffix, without rounding."""
    assert quantity.parse(f"{number}{suffix[0]}") == number * suffix[1]
