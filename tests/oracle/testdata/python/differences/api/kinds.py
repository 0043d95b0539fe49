"""One kind a difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pyopscaffold.api import CEL, Column, Doc, Immutable, MaxLen, Object, Pattern, int64, resource


@dataclass(kw_only=True)
class ReservedSpec:
    """What it is to be."""

    namespace: Annotated[str | None, Immutable()] = None


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Reserved(Object):
    """A Reserved."""

    spec: ReservedSpec


class Step(StrEnum):
    """An order of its own."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


@dataclass(kw_only=True)
class StairSpec:
    """What it is to be."""

    step: Step


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Stair(Object):
    """A Stair."""

    spec: StairSpec


Word = Annotated[str, MaxLen(9), Pattern("^[a-z]+$"), Doc("A word.")]


@dataclass(kw_only=True)
class TightSpec:
    """What it is to be."""

    word: Annotated[Word, MaxLen(5)]


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Tight(Object):
    """A Tight."""

    spec: TightSpec


@dataclass(kw_only=True)
class TwofoldSpec:
    """What it is to be."""

    word: Annotated[Word, Pattern("^x")]


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Twofold(Object):
    """A Twofold."""

    spec: TwofoldSpec


@dataclass(kw_only=True)
class CountSpec:
    """What it is to be."""

    number: int


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Count(Object):
    """A Count."""

    spec: CountSpec


@dataclass(kw_only=True)
class ShownSpec:
    """What it is to be."""

    name: str


@resource(group="differences.example.com", version="v1", columns=[Column("Name", path="spec.name")])
@dataclass(kw_only=True)
class Shown(Object):
    """A Shown."""

    spec: ShownSpec


@dataclass(kw_only=True)
class StartStatus:
    """What it is."""

    observed_generation: int64 | None = None


@dataclass(kw_only=True)
class StartSpec:
    """What it is to be."""

    name: str


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Start(Object):
    """A Start."""

    spec: StartSpec
    status: StartStatus | None = None


@dataclass(kw_only=True)
class SeenStatus:
    """What was seen."""

    what: str = "nothing"


@dataclass(kw_only=True)
class SeenSpec:
    """What it is to be."""

    name: str


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Seen(Object):
    """A Seen."""

    spec: SeenSpec
    status: SeenStatus | None = None


@dataclass(kw_only=True)
class EmptySpec:
    """What it is to be."""

    names: list[str] = field(default_factory=list)


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Empty(Object):
    """A Empty."""

    spec: EmptySpec


@dataclass(kw_only=True)
class BlockSpec:
    """What it is to be."""

    name: str
    """A name, for example:

        name: x

    and no more.
    """


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Block(Object):
    """A Block."""

    spec: BlockSpec


@dataclass(kw_only=True)
class MustSpec:
    """What it is to be."""

    name: str


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Must(Object):
    """A Must."""

    spec: MustSpec


@dataclass(kw_only=True)
class PersonSpec:
    """What it is to be."""

    name: str


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Person(Object):
    """A Person."""

    spec: PersonSpec


@dataclass(kw_only=True)
class RealSpec:
    """What it is to be."""

    number: float


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Real(Object):
    """A Real."""

    spec: RealSpec


Ruly = Annotated[str, CEL("self != 'type'"), Doc("A word with a rule.")]


@dataclass(kw_only=True)
class RuledSpec:
    """What it is to be."""

    both: Annotated[Ruly, CEL("self != 'field'")]


@resource(group="differences.example.com", version="v1")
@dataclass(kw_only=True)
class Ruled(Object):
    """A Ruled."""

    spec: RuledSpec
