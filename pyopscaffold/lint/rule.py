"""A rule: its documentation, its metadata, its check and its own examples, as one value."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pyopscaffold.lint.finding import Edit, Fix, Severity

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Path, Position

__all__ = ["Edit", "Fix", "Hit", "Profile", "Rule", "Subject"]

Subject = TypeVar("Subject")
"""What a rule looks at: File, Manifest, Crd or Version of :mod:`.subject`, or Suppressions of :mod:`.suppress`."""


class Profile(enum.IntEnum):
    """Sets of rules, each of which holds the ones before it."""

    APISERVER = 1
    """What a server refuses, or warns of."""
    CHECKLIST = 2
    """The design checklist as well."""
    STRICT = 3
    """All rules but the opt-in ones."""
    OPT_IN = 4
    """Rules that only run when they are selected, if only by a prefix."""


class Hit(NamedTuple):
    """One breach as a check reports it: the path in the subject's manifest, or a position in a file.

    ``severity`` is set where this breach matters more or less than the rule's others.
    """

    path: Path
    message: str
    field: str = ""
    position: Position | None = None
    fix: Fix | None = None
    severity: Severity | None = None


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[Subject]):
    """One check of one kind of subject.

    ``profile`` is the smallest profile that has the rule. ``what`` is one sentence that names the demand, ``why``
    its reason; ``good`` and ``bad`` are complete YAML texts that pass and breach it. ``good_class`` and ``bad_class``
    are the same in Python: the lines of a module below its imports, with one ``@resource`` class ``Widget``; empty
    where a class can't say it. ``options``, a frozen dataclass whose fields have defaults and docstrings, is what users
    configure; a check of a rule that has some takes them as its second argument.
    """

    id: str
    name: str
    severity: Severity
    profile: Profile
    subject: type[Subject]
    what: str
    why: str
    check: Callable[..., Iterable[Hit]]
    good: tuple[str, ...]
    bad: tuple[str, ...]
    good_class: str = ""
    bad_class: str = ""
    options: Any = None

    def hits(self, subject: Subject) -> Iterable[Hit]:
        """Check one subject."""
        return self.check(subject) if self.options is None else self.check(subject, self.options)
