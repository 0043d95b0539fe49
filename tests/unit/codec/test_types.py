"""Each Python type that a field may have is read from its JSON form, and written as it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, make_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, Generic, Literal, NewType, Optional, Self, TypeVar

import pytest
from typing_extensions import TypeAliasType

from pyopscaffold import codec
from pyopscaffold.api import Conditions, Quantity, RawExtension, int32, int64
from pyopscaffold.errors import CodecError
from pyopscaffold.k8s.core.v1 import Container, ContainerPort, PodSpec, PodTemplateSpec
from pyopscaffold.kube.meta import Condition, MicroTime

T = TypeVar("T")
U = TypeVar("U")
Text = TypeVar("Text", bound=str)

Port = NewType("Port", int)
NamedPort = NewType("NamedPort", Port)
Size = Annotated[int, "anything"]
Names = TypeAliasType("Names", list[str])
Pair = TypeAliasType("Pair", tuple[T, ...], type_params=(T,))
Maybe = TypeAliasType("Maybe", int | None)


class Mode(StrEnum):
    FAST = "Fast"


class Level(IntEnum):
    LOW = 1


class Plain(Enum):
    ON = "On"


@dataclass
class Part:
    name: str
    size: int = 1


@dataclass(frozen=True)
class Stone:
    name: str
    size: int = 1


@dataclass(slots=True)
class Slim:
    name: str
    size: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pebble:
    name: str
    size: int = 1


@dataclass
class Mixed:
    name: str
    _: KW_ONLY
    size: int = 1


class Plainer(Part):
    """No dataclass of its own."""


@dataclass(kw_only=True)
class Labelled:
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Sized:
    size: int32 = 1


@dataclass(kw_only=True)
class Whole(Labelled, Sized):
    name: str


@dataclass(kw_only=True)
class Ref(Generic[T]):
    target: T
    others: list[T] = field(default_factory=list)
    by_name: dict[str, T | None] = field(default_factory=dict)


@dataclass(kw_only=True)
class Both(Generic[T, U]):
    left: Annotated[T, "marked"]
    right: Ref[U] | None = None


@dataclass(kw_only=True)
class Turned(Both[U, T], Generic[T, U]):
    """Its own T is the U of its base."""


@dataclass(kw_only=True)
class Times(Both[datetime, list[Part]]):
    more: str = ""


@dataclass(kw_only=True)
class Bound(Generic[Text]):
    text: Text


NOON = datetime(2026, 1, 2, 12, 0, 0, 250, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hint", "json", "value"),
    [
        (str, "a", "a"),
        (int, 2**62, 2**62),
        (int64, -1, -1),
        (Size, 5, 5),
        (float, 0.5, 0.5),
        (float, 1e300, 1e300),
        (bool, False, False),
        (bytes, "AP8=", b"\x00\xff"),
        (bytes, "", b""),
        (Quantity, "10Gi", "10Gi"),
        (datetime, "2026-01-02T12:00:00.000250Z", NOON),
        (datetime, "2026-01-02T12:00:00Z", NOON.replace(microsecond=0)),
        (MicroTime, "2026-01-02T12:00:00.000000Z", NOON.replace(microsecond=0)),
        (timedelta, "1h30m0.5s", timedelta(hours=1, minutes=30, milliseconds=500)),
        (timedelta, "-5µs", timedelta(microseconds=-5)),
        (Mode, "Fast", Mode.FAST),
        (Level, 1, Level.LOW),
        (Plain, "On", Plain.ON),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], 2, 2),
        (Port, 80, 80),
        (NamedPort, 80, 80),
        (Names, ["a"], ["a"]),
        (Pair[Part], [{"name": "a", "size": 2}], (Part("a", 2),)),
        (Maybe, 3, 3),
        (Optional[int], 3, 3),  # noqa: UP045 - the older spelling
        (int | str, 80, 80),
        (int | str, "http", "http"),
        (int | str | None, "http", "http"),
        (float | str, 0.5, 0.5),
        (list, [1, "a"], [1, "a"]),
        (list[str], ["a"], ["a"]),
        (list[list[timedelta]], [["1s"], []], [[timedelta(seconds=1)], []]),
        (list[Level | None], [1, None], [Level.LOW, None]),
        (list[timedelta | None], ["1s", None], [timedelta(seconds=1), None]),
        (Sequence[Part], [{"name": "a", "size": 2}], [Part("a", 2)]),
        (tuple, ["a"], ("a",)),
        (tuple[Mode, ...], ["Fast"], (Mode.FAST,)),
        (set[str], ["a", "b"], {"a", "b"}),
        (frozenset[int], [1, 2], frozenset({1, 2})),
        (set[Stone], [{"name": "a", "size": 1}, {"name": "b", "size": 1}], {Stone("a"), Stone("b")}),
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, Part], {"a.b/c": {"name": "a", "size": 1}}, {"a.b/c": Part("a")}),
        (dict[str, dict[str, bytes]], {"a": {"b": "YQ=="}}, {"a": {"b": b"a"}}),
        (Mapping[str, int], {"a": 1}, {"a": 1}),
        (MutableMapping[str, list[Mode]], {"a": ["Fast"]}, {"a": [Mode.FAST]}),
        (Any, {"a": [None, 1.5]}, {"a": [None, 1.5]}),
        (object, ["a"], ["a"]),
        (RawExtension, {"kind": "Other", "n": [1]}, {"kind": "Other", "n": [1]}),
        (Part, {"name": "a", "size": 2}, Part("a", 2)),
        (Stone, {"name": "a", "size": 2}, Stone("a", 2)),
        (Slim, {"name": "a", "size": 2}, Slim("a", 2)),
        (Pebble, {"name": "a", "size": 2}, Pebble(name="a", size=2)),
        (Mixed, {"name": "a", "size": 2}, Mixed("a", size=2)),
        (Plainer, {"name": "a", "size": 2}, Plainer("a", 2)),
        (Whole, {"name": "a", "size": 2, "labels": {"a": "b"}}, Whole(name="a", size=2, labels={"a": "b"})),
        (
            Ref[Port],
            {"target": 1, "others": [2], "byName": {"a": None}},
            Ref[int](target=1, others=[2], by_name={"a": None}),
        ),
        (
            Ref[Ref[timedelta]],
            {"target": {"target": "1s", "others": [], "byName": {}}, "others": [], "byName": {}},
            Ref(target=Ref(target=timedelta(seconds=1))),
        ),
        (
            Both[Mode, Part],
            {"left": "Fast", "right": {"target": {"name": "a", "size": 1}, "others": [], "byName": {}}},
            Both(left=Mode.FAST, right=Ref(target=Part("a"))),
        ),
        (
            Turned[bytes, Mode],
            {"left": "Fast", "right": {"target": "YQ==", "others": [], "byName": {}}},
            Turned(left=Mode.FAST, right=Ref(target=b"a")),
        ),
        (
            Times,
            {
                "left": "2026-01-02T12:00:00.000250Z",
                "right": {"target": [{"name": "a", "size": 1}], "others": [], "byName": {}},
                "more": "",
            },
            Times(left=NOON, right=Ref(target=[Part("a")])),
        ),
        (Bound, {"text": "a"}, Bound(text="a")),
        (
            Conditions,
            [{"type": "A", "status": "True", "reason": "B", "message": ""}],
            [Condition(type="A", status="True", reason="B")],
        ),
        (
            PodTemplateSpec,
            {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}},
            PodTemplateSpec(spec=PodSpec(containers=[Container(name="a", ports=[ContainerPort(container_port=80)])])),
        ),
    ],
)
def test_each_type_is_read_and_written(hint: Any, json: Any, value: Any) -> None:
    """A value is what its JSON form reads as, and its JSON form what it is written as."""
    holder = make_dataclass("Holder", [("some_value", hint)], kw_only=True)
    read: Any = codec.decode(holder, {"someValue": json})
    assert (read.some_value, type(read.some_value)) == (value, type(value))
    assert codec.to_mapping(holder(some_value=value)) == {"someValue": json}


@pytest.mark.parametrize(
    ("hint", "json", "message"),
    [
        (str, 3, "Expected `str`, got `int`"),
        (int, "3", "Expected `int`, got `str`"),
        (int, True, "Expected `int`, got `bool`"),
        (int, 1.0, "Expected `int`, got `float`"),
        (float, "0.5", "Expected `float`, got `str`"),
        (float, True, "Expected `float`, got `bool`"),
        (bool, 1, "Expected `bool`, got `int`"),
        (bool, "true", "Expected `bool`, got `str`"),
        (bytes, "?", "base64"),
        (Quantity, False, "Expected `int | float | str`, got `bool`"),
        (datetime, "2026-01-02T12:00:00", "timezone"),
        (datetime, "today", "Invalid RFC3339"),
        (datetime, 0, "Expected `datetime`, got `int`"),
        (timedelta, 5, "Expected `str`, got `int`"),
        (timedelta, "5", "'5' is no duration"),
        (Mode, "fast", "Invalid enum value 'fast'"),
        (Level, True, "Expected `int`, got `bool`"),
        (Level, 2, "Invalid enum value 2"),
        (Literal["a"], "b", "Invalid enum value 'b'"),
        (Port, "80", "Expected `int`, got `str`"),
        (int | str, 1.5, "Expected `int | str`, got `float`"),
        (int | str, [1], "Expected `int | str`, got `array`"),
        (list[str], "a", "Expected `array`, got `str`"),
        (list[str], {}, "Expected `array`, got `object`"),
        (set[Any], [[]], "unhashable"),
        (dict[str, int], [], "Expected `object`, got `array`"),
        (Part, [], "Expected `object`, got `array`"),
        (Part, None, "Expected `object`, got `null`"),
    ],
)
def test_nothing_is_coerced(hint: Any, json: Any, message: str) -> None:
    """A JSON value of another type is refused, however close it comes."""
    with pytest.raises(CodecError, match=message) as caught:
        codec.decode(make_dataclass("Holder", [("value", hint)]), {"value": json})
    assert caught.value.path == "$.value"


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (complex, "complex has no JSON form"),
        (Path, "Path has no JSON form"),
        (date, "date has no JSON form"),
        (list[Decimal], "Decimal has no JSON form"),
        (dict[int, str], "JSON keys are strings"),
        (dict[Mode, str], "JSON keys are strings"),
        (tuple[int, str], "a list of fixed length"),
        (tuple[int], "write tuple\\[X, ...\\]"),
        (set[list[int]], "Python holds no such items in a set"),
        (set[Part], "a dataclass is to be frozen"),
        (timedelta | int, "only unions of plain JSON types"),
        (Part | str, "only unions of plain JSON types"),
        (Part | Whole, "only unions of plain JSON types"),
        (list[int] | list[str], "only unions of plain JSON types"),
        (Mode | str, "only unions of plain JSON types"),
        (Literal["a", 1], "all strings, or all integers"),
        (Literal[True], "all strings, or all integers"),
        (Enum("Ratio", {"HALF": 0.5}), "all strings, or all integers"),
        (Enum("Empty", {}), "all strings, or all integers"),
        (Ref[complex], "Ref.target: the type complex has no JSON form"),
    ],
)
def test_types_without_json_form(hint: Any, message: str) -> None:
    """A type that JSON or Kubernetes can't express is refused once and for all, naming class and field."""
    with pytest.raises(CodecError, match=rf"Odd\.value: .*{message}"):
        codec.decode(make_dataclass("Odd", [("value", hint)]), {})


@dataclass(kw_only=True)
class Lenient:
    """Each sort of default."""

    number: int = 3
    words: list[str] = field(default_factory=lambda: ["a"])
    maybe: int | None = None
    limit: int | None = 5
    marks: list[str] | None = field(default_factory=list)
    implied: timedelta | None
    wait: timedelta = timedelta(seconds=1)
    pause: timedelta | None = timedelta(seconds=2)
    part: Part = field(default_factory=lambda: Part("made"))


def test_absent_fields_have_their_defaults() -> None:
    """What is not there has the class's default, of a factory each time a new one; an optional without is None."""
    first, second = codec.decode(Lenient, {}), codec.decode(Lenient, {})
    assert first == Lenient(implied=None)
    assert first.words is not second.words
    assert first.part is not second.part


def test_null_is_not_set() -> None:
    """Null is as good as absent, save where None is a value of a field that has another default."""
    nulls = dict.fromkeys(["number", "words", "maybe", "limit", "marks", "implied", "wait", "pause", "part"])
    assert codec.decode(Lenient, nulls) == Lenient(implied=None, limit=None, marks=None, pause=None)


@dataclass
class Private:
    """Fields that are no part of the API, and one that is."""

    prefix: ClassVar[str] = "no field"
    scale: InitVar[int] = 10
    size: int = 1
    scaled: int = field(init=False)
    seen: set[complex] = field(init=False, default_factory=set)

    def __post_init__(self, scale: int) -> None:
        self.scaled = self.size * scale


def test_what_is_no_argument_is_no_part_of_the_api() -> None:
    """ClassVar, InitVar and init=False are neither read nor written: the class sees to them itself."""
    private = codec.decode(Private, {"size": 2, "scale": 99, "scaled": 99, "prefix": "x", "seen": 1})
    assert (private.size, private.scaled, private.seen, private.prefix) == (2, 20, set(), "no field")
    assert codec.to_mapping(private) == {"size": 2}


def test_an_init_var_needs_a_default() -> None:
    """What must be given to the class, and can't be read, is refused."""
    with pytest.raises(CodecError, match=r"Demanding\.scale: an InitVar can't be read from JSON; give it a default"):
        codec.decode(make_dataclass("Demanding", [("scale", InitVar[int])]), {})


@dataclass
class Own:
    """A dataclass with a constructor of its own."""

    size: int | None = None
    wait: timedelta | None = None

    def __init__(self, **values: Any) -> None:
        self.given = values
        self.size, self.wait = values.get("size", 7), values.get("wait")


def test_a_constructor_of_ones_own_gets_what_is_there() -> None:
    """A class that does not leave its construction to @dataclass is given the fields that the JSON has."""
    assert codec.decode(Own, {}).given == {}
    assert codec.decode(Own, {"size": None}).size == 7
    assert codec.decode(Own, {"wait": "1s", "size": 2}).given == {"size": 2, "wait": timedelta(seconds=1)}


class Counted:
    made = 0

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Count what is made."""
        cls.made += 1
        return super().__new__(cls)


@dataclass
class Counting(Counted):
    size: int = 1


def test_a_new_of_ones_own_is_called() -> None:
    """A class that has a __new__ makes its objects by it."""
    assert codec.decode(Counting, {"size": 2}).size == 2
    assert Counting.made == 1


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Make another module of a text."""

    def make(source: str) -> ModuleType:
        made = ModuleType("elsewhere")
        monkeypatch.setitem(sys.modules, "elsewhere", made)
        exec(compile(source, "elsewhere", "exec", dont_inherit=True), vars(made))  # noqa: S102 - the text is the test's own
        return made

    return make


def test_types_of_another_module(module: Callable[[str], ModuleType]) -> None:
    """An inherited hint means what its own module says, though it be text."""
    source = """
from __future__ import annotations
from dataclasses import dataclass
from datetime import timedelta as Mode  # of another meaning here
@dataclass
class Base:
    mode: Mode
"""
    elsewhere = module(source)
    derived: Any = dataclass(
        type("Derived", (elsewhere.Base,), {"__annotations__": {"more": "Mode"}, "__module__": __name__})
    )
    assert codec.decode(derived, {"mode": "1s", "more": "Fast"}) == derived(timedelta(seconds=1), Mode.FAST)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is Python 3.12's")
def test_type_parameters(module: Callable[[str], ModuleType]) -> None:
    """Classes with type parameters and ``type`` statements are read as the older spellings are."""
    source = """
from dataclasses import dataclass
type Names = list[str]
type Pair[X] = tuple[X, ...]
type Maybe[X] = X | None
@dataclass
class Box[X]:
    inner: X
    pair: Pair[X]
@dataclass
class Named(Box[Names]):
    size: Maybe[int] = 3
"""
    newer = module(source)
    json = {"inner": ["a"], "pair": [["b"]], "size": 1}
    named = codec.decode(newer.Named, json)
    assert named == newer.Named(["a"], (["b"],), 1)
    assert codec.to_mapping(named) == json
    assert codec.decode(newer.Named, {"inner": [], "pair": [], "size": None}).size is None
