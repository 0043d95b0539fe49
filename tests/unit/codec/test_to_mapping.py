"""Writing dataclasses as JSON mappings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from enum import IntEnum, StrEnum
from typing import Annotated, Any

import pytest

from pyopscaffold import codec
from pyopscaffold.api import Name, Nullable, Object, ObjectMeta, OwnerReference, resource
from pyopscaffold.errors import CodecError


class Mode(StrEnum):
    FAST = "Fast"


class Level(IntEnum):
    LOW = 1


class Text(str):
    __slots__ = ()


class Count(int):
    pass


@dataclass(kw_only=True)
class Part:
    wait: timedelta | None = None
    ready_replicas: int | None = None


@dataclass(kw_only=True)
class Wide(Part):
    more: str = "more"


@dataclass(kw_only=True)
class Spec:
    value: Any = None
    cluster_ip: Annotated[str | None, Name("clusterIP")] = None
    parts: list[Part] = field(default_factory=list)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", "a"),
        (1, 1),
        (1.5, 1.5),
        (False, False),
        (Mode.FAST, "Fast"),
        (Level.LOW, 1),
        (b"abc", "YWJj"),
        (timedelta(minutes=5), "5m0s"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 999, tzinfo=UTC), "2026-01-02T03:04:05.000999Z"),
        (datetime(2026, 1, 2, 3, 0, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:00:00Z"),
        (["a", Mode.FAST, None], ["a", "Fast", None]),
        (("a", "b"), ["a", "b"]),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({2, "a", 1}), ["a", 1, 2]),
        (Text("a"), "a"),
        ([Count(1), True], [1, True]),
        ({"a": timedelta(0), Mode.FAST: None}, {"a": "0s", "Fast": None}),
        (Part(ready_replicas=0), {"readyReplicas": 0}),
        (Wide(), {"more": "more"}),
    ],
)
def test_values(value: Any, expected: Any) -> None:
    """Each type of value has its Kubernetes form; subclasses are written whole."""
    written = codec.to_mapping(Spec(value=value))["value"]
    assert (written, type(written)) == (expected, type(expected))


def test_names_and_none() -> None:
    """JSON names are camelCase or as given, and None is left out."""
    assert codec.to_mapping(Spec(cluster_ip="x")) == {"clusterIP": "x", "parts": []}


def test_object() -> None:
    """An object has apiVersion and kind; of its metadata only what is set."""
    thing = Thing(spec=Spec(parts=[Part()]))
    assert codec.to_mapping(thing) == {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {},
        "spec": {"parts": [{}]},
    }
    thing.metadata = ObjectMeta(
        name="a",
        labels={"app": "a"},
        owner_references=[OwnerReference(api_version="v1", kind="K", name="n", uid="u", controller=True)],
    )
    assert codec.to_mapping(thing)["metadata"] == {
        "name": "a",
        "labels": {"app": "a"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": True}],
    }


def test_nothing_is_shared_with_the_object() -> None:
    """Changing the mapping leaves the object alone."""
    spec = Spec(value={"list": [1]})
    codec.to_mapping(spec)["value"]["list"].append(2)
    assert spec.value == {"list": [1]}


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        (Spec(value=datetime(2026, 1, 1)), "$.spec.value", "has no time zone"),  # noqa: DTZ001 - the mistake itself
        (Spec(value=[{"a": object()}]), "$.spec.value[0]['a']", "type object has no JSON form"),
        (Spec(value={1: "a"}), "$.spec.value", "JSON keys are strings"),
        (Spec(value={"a": [0, float("nan")]}), "$.spec.value['a'][1]", "nan has no JSON form"),
        (
            Spec(value=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))),
            "$.spec.value",
            "outside of the years",
        ),
        (Spec(parts=[Part(wait=timedelta.max)]), "$.spec.parts[0].wait", "exceeds 292 years"),
    ],
)
def test_misfits_name_their_place(spec: Spec, path: str, message: str) -> None:
    """A value without JSON form is a CodecError with its JSON path."""
    with pytest.raises(CodecError, match=message) as caught:
        codec.to_mapping(Thing(spec=spec))
    assert caught.value.path == path


def test_what_contains_itself() -> None:
    """A value that contains itself has no end, and no JSON form."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(CodecError, match="nested too deeply"):
        codec.to_mapping(Spec(value=endless))


@dataclass(kw_only=True)
class Leased:
    """Fields that may be null."""

    holder: Annotated[str | None, Nullable()]
    zone: Annotated[str | None, Nullable()] = "eu"
    note: Annotated[str | None, Nullable()] = None
    limit: int | None = 3


def test_null_that_absence_would_not_say() -> None:
    """A kept null is written where the field is required or has another default, and read back."""
    leased = Leased(holder=None, zone=None, note=None, limit=None)
    assert codec.to_mapping(leased) == {"holder": None, "zone": None}
    assert codec.decode(Leased, {"holder": None, "zone": None}) == Leased(holder=None, zone=None)
