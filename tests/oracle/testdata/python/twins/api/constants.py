"""Closed sets of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Annotated, Literal

from pyopscaffold.api import Doc, Format, Object, OneOfValues, int64, resource


class Level(StrEnum):
    """How loud it is."""

    DEBUG = "debug"
    ERROR = "error"
    WARNING = "warning"


class Grade(IntEnum):
    """A grade from one to three."""

    LOW = 1
    MIDDLE = 2
    HIGH = 3


@dataclass(kw_only=True)
class LoggerSpec:
    """A logger's wishes."""

    level: Level
    night: Annotated[Level, Doc("The level at night.")] = Level.ERROR
    levels: list[Level] = field(default_factory=list)
    by_name: dict[str, Level] = field(default_factory=dict)
    grade: Annotated[Grade, Format("int32")] = Grade.MIDDLE
    form: Literal["json", "text"]
    square: Annotated[int64, OneOfValues(1, 4, 9)]
    sides: list[Annotated[str, OneOfValues("north", "south")]] = field(default_factory=list)


@resource(group="constants.example.com", version="v1")
@dataclass(kw_only=True)
class Logger(Object):
    """A logger."""

    spec: LoggerSpec
