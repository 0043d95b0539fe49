"""Reading dataclasses from JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import pytest

from pyopscaffold import codec
from pyopscaffold.api import Conditions, Ge, MaxLen, Name, Object, Pattern, Quantity, int32, resource
from pyopscaffold.errors import CodecError

T = TypeVar("T")
Port = NewType("Port", int)


class Mode(StrEnum):
    FAST = "Fast"
    SAFE = "Safe"


class Level(Enum):
    LOW = 1


@dataclass(kw_only=True)
class Probe:
    period: timedelta
    port: int | str = 80


@dataclass(kw_only=True)
class Ref(Generic[T]):
    target: T
    others: list[T] = field(default_factory=list)


@dataclass(kw_only=True)
class Spec:
    version: Annotated[str, Pattern("^[0-9]+$"), MaxLen(3)]
    replicas: Annotated[int32, Ge(1)] = 1
    ratio: float = 0.5
    cluster_ip: Annotated[str, Name("clusterIP")] = ""
    from_: str = ""
    mode: Mode = Mode.SAFE
    level: Level | None = None
    policy: Literal["Keep", "Drop"] = "Keep"
    storage: Quantity | None = None
    sizes: list[Quantity] = field(default_factory=list)
    port: Port = Port(1)
    since: datetime | None = None
    token: bytes = b""
    probe: Probe | None = None
    probes: list[Probe] = field(default_factory=list)
    by_name: dict[str, Probe] = field(default_factory=dict)
    ref: Ref[Probe] | None = None
    plain_ref: Ref[str] | None = None
    pair: tuple[str, ...] = ()
    tags: set[str] = field(default_factory=set)
    names: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    modes: dict[str, list[dict[str, Mode]]] = field(default_factory=dict)
    waits: list[list[timedelta]] = field(default_factory=list)
    limit: int | None = 5
    computed: int = field(default=7, init=False)


@dataclass(kw_only=True)
class Status:
    conditions: Conditions = field(default_factory=list)


@resource(group="example.com", version="v1")
@dataclass(kw_only=True)
class Thing(Object):
    spec: Spec
    status: Status = field(default_factory=Status)


def _spec(**values: Any) -> Spec:
    return codec.decode(Spec, {"version": "1", **values})


@pytest.mark.parametrize(
    ("json", "name", "expected"),
    [
        ({"replicas": 3}, "replicas", 3),
        ({"ratio": 2}, "ratio", 2.0),
        ({"clusterIP": "10.0.0.1"}, "cluster_ip", "10.0.0.1"),
        ({"from": "a"}, "from_", "a"),
        ({"mode": "Fast"}, "mode", Mode.FAST),
        ({"level": 1}, "level", Level.LOW),
        ({"policy": "Drop"}, "policy", "Drop"),
        ({"storage": "1Gi"}, "storage", "1Gi"),
        ({"storage": 5}, "storage", "5"),
        ({"storage": 0.5}, "storage", "0.5"),
        ({"sizes": ["1", 2]}, "sizes", ["1", "2"]),
        ({"port": 9}, "port", 9),
        ({"since": "2026-01-02T03:04:05Z"}, "since", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ({"token": "YWJj"}, "token", b"abc"),
        ({"probe": {"period": "1m30s"}}, "probe", Probe(period=timedelta(seconds=90))),
        ({"probe": {"period": "1s", "port": "http"}}, "probe", Probe(period=timedelta(seconds=1), port="http")),
        ({"probes": [{"period": "1s"}]}, "probes", [Probe(period=timedelta(seconds=1))]),
        ({"byName": {"a": {"period": "1s"}}}, "by_name", {"a": Probe(period=timedelta(seconds=1))}),
        ({"ref": {"target": {"period": "1s"}}}, "ref", Ref(target=Probe(period=timedelta(seconds=1)))),
        ({"plainRef": {"target": "a", "others": ["b"]}}, "plain_ref", Ref(target="a", others=["b"])),
        ({"pair": ["a", "b"]}, "pair", ("a", "b")),
        ({"tags": ["a", "a"]}, "tags", {"a"}),
        ({"names": ["a"]}, "names", ["a"]),
        ({"labels": {"a": "b"}}, "labels", {"a": "b"}),
        ({"extra": {"a": [1, {"b": None}]}}, "extra", {"a": [1, {"b": None}]}),
        ({"computed": 1}, "computed", 7),
    ],
)
def test_values(json: dict[str, Any], name: str, expected: Any) -> None:
    """Each type of field is read from its Kubernetes form, under its JSON name."""
    assert getattr(_spec(**json), name) == expected


def test_defaults() -> None:
    """What is absent takes its default, each time a fresh one."""
    first, second = _spec(), _spec()
    assert first == Spec(version="1")
    assert first.probes is not second.probes


def test_null_is_unset() -> None:
    """Null takes the default, as unset fields do; only where None is a value of the field it is kept."""
    spec = _spec(replicas=None, probes=None, limit=None)
    assert (spec.replicas, spec.probes, spec.limit) == (1, [], None)


def test_bounds_are_the_servers() -> None:
    """An object older than a bound stays readable."""
    assert codec.decode(Spec, {"version": "not a number", "replicas": 0}).replicas == 0


def test_unknown_fields_are_ignored() -> None:
    """Fields that the class does not know are no error."""
    assert _spec(novelty={"a": 1}) == Spec(version="1")


def test_object() -> None:
    """A whole object is read from text, with its metadata and conditions."""
    thing = codec.decode(
        Thing,
        b"""{
          "apiVersion": "example.com/v1", "kind": "Thing",
          "metadata": {"name": "a", "namespace": "b", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z",
                       "managedFields": [{"manager": "x"}], "labels": {"app": "a"},
                       "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}]},
          "spec": {"version": "1"},
          "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "AsExpected",
                                     "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}""",
    )
    assert (thing.metadata.name, thing.metadata.generation) == ("a", 2)
    assert thing.metadata.creation_timestamp == datetime(2026, 1, 1, tzinfo=UTC)
    assert thing.metadata.owner_references[0].uid == "u"
    assert [(condition.type, condition.status) for condition in thing.status.conditions] == [("Ready", "True")]


def test_nothing_is_shared_with_the_source() -> None:
    """Changing what was read leaves the mapping alone that it was read from."""
    source = {"version": "1", "extra": {"list": [1]}, "labels": {"a": "b"}}
    spec = codec.decode(Spec, source)
    spec.extra["list"].append(2)
    assert source == {"version": "1", "extra": {"list": [1]}, "labels": {"a": "b"}}


@pytest.mark.parametrize(
    ("json", "path", "message"),
    [
        ({}, "$.spec", "required, but missing"),
        ({"spec": {}}, "$.spec.version", "required, but missing"),
        ({"spec": {"version": "1", "probe": {}}}, "$.spec.probe.period", "required, but missing"),
        ({"spec": {"version": 1}}, "$.spec.version", "Expected `str`, got `int`"),
        ({"spec": {"version": "1", "replicas": "3"}}, "$.spec.replicas", "got `str`"),
        ({"spec": {"version": "1", "replicas": True}}, "$.spec.replicas", "got `bool`"),
        ({"spec": {"version": "1", "storage": True}}, "$.spec.storage", "got `bool`"),
        ({"spec": {"version": "1", "mode": "Odd"}}, "$.spec.mode", "'Odd'"),
        ({"spec": {"version": "1", "since": "2026-01-01T00:00:00"}}, "$.spec.since", "timezone"),
        ({"spec": {"version": "1", "token": "?"}}, "$.spec.token", "base64"),
        ({"spec": {"version": "1", "probe": {"period": "soon"}}}, "$.spec.probe.period", "'soon' is no duration"),
        (
            {"spec": {"version": "1", "probes": [{"period": "1s"}, {"period": "x"}]}},
            "$.spec.probes[1].period",
            "'x' is no duration",
        ),
        (
            {"spec": {"version": "1", "byName": {"a.b": {"period": "x"}}}},
            "$.spec.byName['a.b'].period",
            "'x' is no duration",
        ),
        (
            {"spec": {"version": "1", "byName": {"a": {"period": "1s"}, "b": {}, "c": {"period": "1s"}}}},
            "$.spec.byName['b'].period",
            "required, but missing",
        ),
        (
            {"spec": {"version": "1", "byName": {"a.b": {"period": "1s", "port": []}}}},
            "$.spec.byName['a.b'].port",
            "got `array`",
        ),
        ({"spec": {"version": "1", "labels": {"a": "", "it's": 1}}}, '$.spec.labels["it\'s"]', "Expected `str`"),
        (
            {"spec": {"version": "1", "modes": {"a": [{"b": "Fast"}, {"c": "Odd"}]}}},
            "$.spec.modes['a'][1]['c']",
            "'Odd'",
        ),
        ({"spec": {"version": "1", "sizes": ["1", 2, True]}}, "$.spec.sizes[2]", "got `bool`"),
        ({"spec": {"version": "1", "waits": [["1s"], ["2s", "x"]]}}, "$.spec.waits[1][1]", "'x' is no duration"),
        ({"spec": {"version": "1", "policy": "Stay"}}, "$.spec.policy", "'Stay'"),
        ({"spec": {"version": "1", "ref": {"target": {"period": 1}}}}, "$.spec.ref.target.period", "got `int`"),
        ({"kind": "Other", "spec": {"version": "1"}}, "$.kind", "expected Thing, got Other"),
        ({"apiVersion": "example.com/v2", "spec": {"version": "1"}}, "$.apiVersion", "expected example.com/v1"),
    ],
)
def test_misfits_name_their_place(json: dict[str, Any], path: str, message: str) -> None:
    """What does not fit is a CodecError with the JSON path, the class and the reason."""
    with pytest.raises(CodecError) as caught:
        codec.decode(Thing, json)
    assert caught.value.path == path
    assert message in str(caught.value)
    assert str(caught.value).startswith("Thing at $")


def test_the_first_misfit_of_many_entries() -> None:
    """Of many entries of a mapping that do not fit the first is named."""
    entries = {f"key-{number}": "1s" if number < 700 else number for number in range(1000)}
    with pytest.raises(CodecError) as caught:
        codec.decode(Waiting, {"waits": entries})
    assert caught.value.path == "$.waits['key-700']"


@dataclass
class Waiting:
    waits: dict[str, timedelta]


@dataclass
class Dotted:
    modes: Annotated[dict[str, Mode], Name("some.modes")]


@pytest.mark.parametrize("text", [b'{"some.modes":{"a":"Fast","b":"Odd"}}', b'{"some.modes":{"a":"Odd","a":"Fast"}}'])
def test_a_key_that_can_not_be_found(text: bytes) -> None:
    """Where a key can't be told, for a dot in a name or a key that comes twice, the place is given without it."""
    with pytest.raises(CodecError, match="Invalid enum value 'Odd'") as caught:
        codec.decode(Dotted, text)
    assert caught.value.path == "$.some.modes[...]"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"spec":' * 20000, b'{"a":' + b"[" * 20000])
def test_no_json_object(text: bytes) -> None:
    """Text that is no JSON object at all is a CodecError too."""
    with pytest.raises(CodecError, match="Thing"):
        codec.decode(Thing, text)


@pytest.mark.parametrize(
    "data", [{"spec": object()}, {"spec": "\ud800"}, {"spec": {("a", "b"): 1}}, {"spec": {1, "a"}}]
)
def test_a_mapping_that_is_no_json(data: Any) -> None:
    """A mapping with what JSON does not have is a CodecError."""
    with pytest.raises(CodecError, match="Thing at "):
        codec.decode(Thing, data)


def test_checks_of_the_class_itself() -> None:
    """A ValueError from the author's own __post_init__ is a misfit at the object."""

    @dataclass(kw_only=True)
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError(f"{self.number} is odd")

    with pytest.raises(CodecError, match="Even at \\$: 3 is odd"):
        codec.decode(Even, {"number": 3})


@dataclass
class Knot:
    inner: Knot | None = None


@dataclass
class Undefined:
    inner: Missing  # type: ignore[name-defined]  # noqa: F821 - what the test is about


def test_recursion_is_refused() -> None:
    """A class that contains itself has no Kubernetes schema."""
    with pytest.raises(CodecError, match="Knot contains itself"):
        codec.decode(Knot, {})


def test_unknown_name_in_a_hint() -> None:
    """A hint that names nothing is a CodecError, not a NameError from within."""
    with pytest.raises(CodecError, match="Undefined: name 'Missing' is not defined"):
        codec.decode(Undefined, {})
