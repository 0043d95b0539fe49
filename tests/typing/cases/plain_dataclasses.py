"""Type checkers take API types for what they are: dataclasses. Checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Generic, Literal, TypeVar, assert_type

from pyopscaffold.api import (
    JSON,
    Condition,
    Conditions,
    Ge,
    GroupVersionKind,
    Immutable,
    ListMap,
    MapType,
    MaxLen,
    Object,
    ObjectMeta,
    Quantity,
    RawExtension,
    Title,
    at_least_one_of,
    at_most_one_of,
    atomic,
    cel,
    exactly_one_of,
    int32,
    int64,
    mark,
    resource,
)
from pyopscaffold.codec import decode, to_mapping

T = TypeVar("T")


@dataclass(kw_only=True, slots=True, frozen=True)
class Ref(Generic[T]):
    to: T
    optional: bool = False


@mark(Title("Part"), MaxLen(3))
@atomic
@cel("true")
@at_most_one_of("one", "two")
@exactly_one_of("one", "two")
@at_least_one_of("one", "two")
@dataclass(kw_only=True)
class Part:
    one: str | None = None
    two: str | None = None


@dataclass(kw_only=True)
class Spec:
    replicas: Annotated[int32, Ge(1)] = 1
    size: int64
    storage: Quantity | None = None
    mode: Literal["a", "b"] = "a"
    parts: Annotated[list[Part], ListMap("one")] = field(default_factory=list)
    secret: Annotated[Ref[str], Immutable()]
    labels: Annotated[dict[str, str], MapType("atomic")] = field(default_factory=dict)
    every: timedelta | None = None
    since: datetime | None = None
    raw: RawExtension = field(default_factory=dict)
    anything: JSON = None
    port: int | str = 80


@dataclass(kw_only=True)
class Status:
    conditions: Conditions = field(default_factory=list)


@resource(group="example.com", version="v1", labels={"a": "b"}, skip=False)
@dataclass(kw_only=True)
class Widget(Object):
    spec: Spec
    status: Status = field(default_factory=Status)


@resource(group="example.com", version="v2", storage=False)
@dataclass(kw_only=True)
class WidgetV2(Widget):
    note: str = ""


spec = Spec(size=3, secret=Ref(to="name"))
widget = Widget(metadata=ObjectMeta(name="one"), spec=spec)

assert_type(spec.replicas, int)
assert_type(spec.size, int)
assert_type(spec.storage, str | None)
assert_type(spec.parts, list[Part])
assert_type(spec.secret, Ref[str])
assert_type(spec.secret.to, str)
assert_type(spec.labels, dict[str, str])
assert_type(spec.every, timedelta | None)
assert_type(spec.since, datetime | None)
assert_type(spec.raw, dict[str, Any])
assert_type(spec.anything, Any)
assert_type(spec.port, int | str)
assert_type(Part(one="x"), Part)
assert_type(widget, Widget)
assert_type(widget.metadata.name, str)
assert_type(widget.status.conditions, list[Condition])
assert_type(WidgetV2(spec=spec).spec, Spec)
assert_type(replace(widget, spec=spec), Widget)
assert_type(Widget.gvk, GroupVersionKind)
assert_type(decode(Widget, b"{}"), Widget)
assert_type(to_mapping(widget), dict[str, Any])
