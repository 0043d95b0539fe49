"""What can be configured. The classes are the one definition: their fields are the keys, see :mod:`.decode`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pyopscaffold.lint.finding import FailOn, Severity
from pyopscaffold.lint.globs import matches_path
from pyopscaffold.lint.rule import Profile
from pyopscaffold.lint.selection import Selection

Keys = tuple[str, ...]


class Misfit(NamedTuple):
    """A setting that can't be: the keys that lead to it, and why."""

    keys: Keys
    message: str


@dataclass(frozen=True, kw_only=True)
class PathSettings:
    """What is different for some files."""

    extend_select: tuple[str, ...] = ()
    """Rules that are on for these files as well."""
    ignore: tuple[str, ...] = ()
    """Rules that are off for these files."""
    severity: Mapping[str, Severity] = dataclasses.field(default_factory=dict)
    """Severities of rules in these files."""


@dataclass(frozen=True, kw_only=True)
class FieldSettings:
    """What is different for some fields."""

    ignore: tuple[str, ...] = ()
    """Rules that are off for these fields."""
    severity: Mapping[str, Severity] = dataclasses.field(default_factory=dict)
    """Severities of rules at these fields."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Settings of lint-crd. Rules are named by id (VA01), prefix (VA) or name (string-constraint)."""

    profile: Literal["apiserver", "checklist", "strict"] = "checklist"
    """The set of rules: what a server refuses, the design checklist as well, or all but the opt-in ones."""
    select: tuple[str, ...] = ()
    """Only these rules, instead of the profile's."""
    extend_select: tuple[str, ...] = ()
    """These rules as well."""
    ignore: tuple[str, ...] = ()
    """Not these rules; where several selectors match a rule, the longest counts."""
    fail_on: FailOn = FailOn.WARN
    """The least severity that makes the exit code 1."""
    severity: Mapping[str, Severity] = dataclasses.field(default_factory=dict)
    """Severities of rules; of several keys that match a rule, the longest counts."""
    exclude: tuple[str, ...] = ()
    """Files and folders that are left out where a folder is walked; patterns as in .gitignore."""
    baseline: str = ""
    """The file with the findings that are put up with; relative to this file."""
    per_path: Mapping[str, PathSettings] = dataclasses.field(default_factory=dict)
    """Other settings for the files that a pattern matches, relative to this file: "config/crd/*.yaml"."""
    per_field: Mapping[str, FieldSettings] = dataclasses.field(default_factory=dict)
    """Other settings for the fields that a pattern matches: ".spec.template.**", "widgets.example.com/v1:.spec.*"."""
    rules: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Options of rules, by id or name."""
    _root: Path = Path()
    _baseline: Path | None = None

    @property
    def root(self) -> Path:
        """The folder that paths and patterns are relative to."""
        return self._root

    @property
    def baseline_file(self) -> Path | None:
        """The baseline, by the path as the command line or this file gives it."""
        return self._baseline or (self._root / self.baseline if self.baseline else None)

    @property
    def selection(self) -> Selection:
        """The rules that are on where nothing else is said."""
        return Selection(
            profile=Profile[self.profile.upper()],
            select=self.select,
            extend_select=self.extend_select,
            ignore=self.ignore,
        )

    def overlaid(
        self,
        *,
        profile: Literal["apiserver", "checklist", "strict"] | None = None,
        select: Sequence[str] = (),
        extend_select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        fail_on: FailOn | None = None,
        baseline: Path | None = None,
    ) -> Config:
        """Lay the command line over this: it replaces, but what is selected or ignored besides adds up."""
        return dataclasses.replace(
            self,
            profile=profile or self.profile,
            select=tuple(select) or (() if profile else self.select),
            extend_select=(*self.extend_select, *extend_select),
            ignore=(*self.ignore, *ignore),
            fail_on=fail_on or self.fail_on,
            _baseline=baseline or self._baseline,
        )

    def excludes(self, path: str) -> bool:
        """Whether a file or folder that is met on the way is left out."""
        return bool(self.exclude) and any(matches_path(pattern, self.relative(path)) for pattern in self.exclude)

    def relative(self, path: str) -> str:
        """Spell a path as patterns do: from the folder of the configuration, with forward slashes."""
        return os.path.relpath(path, self._root).replace(os.sep, "/")
