"""A rule: its documentation, its metadata, its check and its own examples, as one value."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.subject import Crd, File, Manifest, Version

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Path, Position

Subject = TypeVar("Subject", File, Manifest, Crd, Version)


class Profile(enum.IntEnum):
    """Sets of rules, each of which holds the ones before it."""

    APISERVER = 1
    """What a server refuses, or warns of."""
    CHECKLIST = 2
    """The design checklist as well."""
    STRICT = 3
    """All rules but the opt-in ones."""
    OPT_IN = 4
    """Rules that only run when they are selected by name."""


class Hit(NamedTuple):
    """One breach as a check reports it: the path in the subject's manifest, or a position in a file."""

    path: Path
    message: str
    field: str = ""
    position: Position | None = None


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[Subject]):
    """One check of one kind of subject.

    ``profile`` is the smallest profile that has the rule. ``what`` is one sentence that names the demand, ``why``
    its reason; ``good`` and ``bad`` are complete YAML texts that pass and breach it.
    """

    id: str
    name: str
    severity: Severity
    profile: Profile
    subject: type[Subject]
    what: str
    why: str
    check: Callable[[Subject], Iterable[Hit]]
    good: tuple[str, ...]
    bad: tuple[str, ...]
