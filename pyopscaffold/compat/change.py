"""One change between two states of a CRD."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Grade(enum.IntEnum):
    """Whom a change breaks."""

    COMPATIBLE = 1
    """Nobody: what was valid stays so, and is read as before."""
    RISKY = 2
    """Those who relied on more than the schema said, such as clients that know all values of an enum."""
    BREAKING = 3
    """Who wrote, stored or asked for what was valid before."""


class Sort(enum.StrEnum):
    """What kind of change it is."""

    REMOVED = "removed"
    TYPE = "type"
    REQUIRED = "required"
    ENUM = "enum"
    BOUND = "bound"
    DEFAULT = "default"
    MERGE = "merge"
    ADDED = "added"
    MANIFEST = "manifest"


@dataclass(frozen=True, order=True, kw_only=True)
class Change:
    """A change and its grade.

    ``path`` leads to the place in the new manifest; for what is gone, to what it was in. ``field`` is the place in the
    user's terms, such as ``.spec.items[].name``, "" for what is about the whole CRD. ``version`` is the API version,
    ``before`` the one that it is compared with, where that is another one; both are "" for the whole CRD.
    """

    version: str
    field: str
    sort: Sort
    message: str
    grade: Grade
    before: str = ""
    path: tuple[str | int, ...] = ()
