"""Checks the design of CRDs, whoever wrote them, and of the RBAC that comes with them.

``lint`` is the linter as a function; the other names are what it takes and gives, and what rules are written with.
They are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyopscaffold.document.reader import Source
    from pyopscaffold.lint.config import Config, FieldSettings, PathSettings
    from pyopscaffold.lint.finding import FailOn, Failure, Finding, Report, Severity, Skipped
    from pyopscaffold.lint.library import lint
    from pyopscaffold.lint.rule import Edit, Fix, Hit, Profile, Rule
    from pyopscaffold.lint.subject import Crd, File, Manifest, Node, Version

__all__ = [
    "Config",
    "Crd",
    "Edit",
    "FailOn",
    "Failure",
    "FieldSettings",
    "File",
    "Finding",
    "Fix",
    "Hit",
    "Manifest",
    "Node",
    "PathSettings",
    "Profile",
    "Report",
    "Rule",
    "Severity",
    "Skipped",
    "Source",
    "Version",
    "lint",
]

_HOMES = {
    "pyopscaffold.document.reader": ("Source",),
    "pyopscaffold.lint.config": ("Config", "FieldSettings", "PathSettings"),
    "pyopscaffold.lint.finding": ("FailOn", "Failure", "Finding", "Report", "Severity", "Skipped"),
    "pyopscaffold.lint.library": ("lint",),
    "pyopscaffold.lint.rule": ("Edit", "Fix", "Hit", "Profile", "Rule"),
    "pyopscaffold.lint.subject": ("Crd", "File", "Manifest", "Node", "Version"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
